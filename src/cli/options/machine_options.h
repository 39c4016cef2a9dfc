// What a model is computed with: options of every command that runs one.
#pragma once

#include <string>

#include "base/dtype.h"
#include "cli/options/option_table.h"

namespace cloze::cli {

// Of `threads`.
inline constexpr const char* kThreadsHelp =
    "Threads to compute with; 0: one for each processor that the process may use";

Option device_option(std::string& device);

// Of the processor; the value is for limit_instruction_set().
inline constexpr const char* kAnyInstructionSet = "auto";
Option instruction_set_option(std::string& instruction_set);
// Before anything is computed. UserError for an instruction set that the machine lacks.
void limit_instruction_set(const std::string& instruction_set);

// "f32" and "32", "bf16" and "16", "f16" and "fp16".
std::vector<std::string> dtype_names();
DType dtype_named(const std::string& name);  // one of these

}  // namespace cloze::cli

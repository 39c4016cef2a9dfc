// What a model is computed with: options of every command that runs one.
#pragma once

#include <string>

#include "base/dtype.h"
#include "cli/options/option_table.h"
#include "comm/world.h"
#include "engine/devices.h"

namespace cloze::cli {

// Of `threads`.
inline constexpr const char* kThreadsHelp =
    "Threads to compute with; 0: one for each processor that the process may use";

// The value is for chosen_device(), and is kAnyDevice unless another is given.
inline constexpr const char* kAnyDevice = "auto";
Option device_option(std::string& device);
// The device of that value (engine/devices.h): kAnyDevice is the first card where it can be used,
// and else the CPU. Of the processes that mpirun started on this machine each takes the card of its
// own number. UserError when there are fewer, and as device_named().
std::string chosen_device(const std::string& device);
// The same where there are these cards, and this is one of so many processes.
std::string chosen_device(const std::string& device, const engine::Cards& cards,
                          const comm::PlaceOnHost& place);
// The bytes of memory of the card that it is; nothing for other devices.
std::optional<int64_t> card_memory(const std::string& chosen_device);
// Says on standard error which card it is, if it is one.
void say_card(const std::string& chosen_device);

// Of the processor; the value is for limit_instruction_set().
inline constexpr const char* kAnyInstructionSet = "auto";
Option instruction_set_option(std::string& instruction_set);
// Before anything is computed. UserError for an instruction set that the machine lacks.
void limit_instruction_set(const std::string& instruction_set);

// "f32" and "32", "bf16" and "16", "f16" and "fp16".
std::vector<std::string> dtype_names();
DType dtype_named(const std::string& name);  // one of these

}  // namespace cloze::cli

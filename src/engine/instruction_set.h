// Which instructions of the processor this process computes with: avx2, avx512, avx512_bf16 or amx
// (backend/cpu/instruction_set.h).
#pragma once

#include <string>
#include <vector>

namespace cloze::engine {

// All there are, whether or not this machine has them; each includes those before it.
std::vector<std::string> all_instruction_sets();
// The sets of this machine; each includes those before it.
std::vector<std::string> instruction_sets();
// The widest in use.
std::string instruction_set();
// Limits the process to this set from now on. Call it before the first model is compiled.
// UserError, which names the sets of this machine, when it lacks this one.
void limit_instruction_set(const std::string& name);

}  // namespace cloze::engine

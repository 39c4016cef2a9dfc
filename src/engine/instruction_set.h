// What of the processor this process computes with: avx2, avx512, avx512_bf16 or amx
// (backend/cpu/instruction_set.h).
#pragma once

#include <string>
#include <vector>

namespace cloze::engine {

// Those of this machine, each holding the ones before.
std::vector<std::string> instruction_sets();
// The widest in use.
std::string instruction_set();
// From now on no more than this. Before the first model is compiled. UserError, which names those
// there are, for one that this machine lacks.
void limit_instruction_set(const std::string& name);

}  // namespace cloze::engine

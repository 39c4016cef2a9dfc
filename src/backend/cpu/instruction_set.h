// The instruction set that the kernels use. One limit applies to our vector kernels, to oneDNN's
// products and to the choice of bf16 units, so that a processor with more instructions can
// reproduce the bytes of one with fewer.
//
//   avx2          the floor
//   avx512        F, BW, CD, DQ, VL
//   avx512_bf16   and dot products of bf16
//   amx           and tiles of bf16
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace cloze::backend::cpu {

enum class InstructionSet { kAvx2, kAvx512, kAvx512Bf16, kAmx };
inline constexpr InstructionSet kInstructionSets[] = {
    InstructionSet::kAvx2, InstructionSet::kAvx512, InstructionSet::kAvx512Bf16,
    InstructionSet::kAmx};

std::string_view name_of(InstructionSet set);

// The sets that this processor has and the system lets us use; each includes those before it.
std::vector<InstructionSet> instruction_sets();

// The one of `sets` that has this name; UserError that lists them all for any other name.
InstructionSet instruction_set_named(std::string_view name, std::span<const InstructionSet> sets);

// Limits kernels to this set from now on. Call it before the first kernel is created: InternalError
// when oneDNN has already fixed its choice.
void limit_instruction_set(InstructionSet set);

// The widest set in use.
InstructionSet instruction_set();
inline bool uses(InstructionSet set) { return instruction_set() >= set; }

}  // namespace cloze::backend::cpu

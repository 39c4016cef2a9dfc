// What of the processor the kernels use. Our own vectors, oneDNN's products and the choice of bf16
// units follow one limit, so that a processor that has more can be made to give the bytes of one
// that has less.
//
//   avx2          the floor
//   avx512        F, BW, CD, DQ, VL
//   avx512_bf16   and dot products of bf16
//   amx           and tiles of bf16
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cloze::backend::cpu {

enum class InstructionSet { kAvx2, kAvx512, kAvx512Bf16, kAmx };

std::string_view name_of(InstructionSet set);

// Those of this processor that the system lets us use, each holding the ones before.
std::vector<InstructionSet> instruction_sets();

// The one of these that is called so; UserError, which names them all, for another one.
InstructionSet instruction_set_named(std::string_view name, std::span<const InstructionSet> sets);

// From now on kernels use no more than this. Before the first kernel is asked for: InternalError
// when oneDNN has made up its mind.
void limit_instruction_set(InstructionSet set);

// The widest that is in use.
InstructionSet instruction_set();
inline bool uses(InstructionSet set) { return instruction_set() >= set; }

}  // namespace cloze::backend::cpu

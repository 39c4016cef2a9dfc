#include "backend/cpu/instruction_set.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "backend/cpu/native/matmul.h"
#include "backend/cpu/native/pair_product.h"
#include "backend/cpu/product_plan.h"
#include "base/error.h"

namespace cloze::backend::cpu {
namespace {

TEST(InstructionSet, BeginsWithTheFloorAndUsesTheWidest) {
  const std::vector<InstructionSet> sets = instruction_sets();
  EXPECT_EQ(sets.front(), InstructionSet::kAvx2);
  EXPECT_EQ(instruction_set(), sets.back());
}

TEST(InstructionSet, AnErrorNamesThoseThereAre) {
  const InstructionSet sets[] = {InstructionSet::kAvx2, InstructionSet::kAvx512};
  EXPECT_EQ(instruction_set_named("avx512", sets), InstructionSet::kAvx512);
  for (const char* name : {"amx", "AVX2", ""}) {
    try {
      instruction_set_named(name, sets);
      ADD_FAILURE() << name;
    } catch (const UserError& error) {
      EXPECT_EQ(std::string(error.what()),
                std::string("instruction set ") + name +
                    " is not available on this machine; it has avx2, avx512");
    }
  }
}

// 0 when our vectors, oneDNN and the choice of bf16 units all keep to AVX2; in a process of its
// own, as a limit cannot be lifted.
int keeps_to_avx2() {
  limit_instruction_set(InstructionSet::kAvx2);
  limit_instruction_set(InstructionSet::kAvx2);  // again is no error
  const TileSize tile = register_tile();
  if (instruction_set() != InstructionSet::kAvx2) return 1;
  if (tile.rows != 6 || tile.columns != 16) return 2;
  if (pair_units() != PairUnits::kNone) return 3;
  return refuse_native_bf16() ? 0 : 4;
}

TEST(InstructionSetDeathTest, ALimitHoldsForAllKernels) {
  EXPECT_EXIT(std::exit(keeps_to_avx2()), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace cloze::backend::cpu

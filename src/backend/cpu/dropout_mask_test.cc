// The vector mask against ops/dropout_mask.h, bit by bit.
#include <vector>

#include "backend/cpu/dropout_row.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/dropout_mask_test.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/dropout_mask-inl.h"
#include "backend/cpu/vector_target_test.h"  // after foreach_target.h

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {
namespace {

void WriteMultipliers(const DropoutRow& row, int64_t n, float* multipliers) {
  DropoutMultipliers(FloatTag(), row, n, multipliers);
}

void DropElements(const DropoutRow& row, int64_t n, float* x) {
  ApplyDropout(FloatTag(), row, n, x);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {
namespace {

HWY_EXPORT(WriteMultipliers);
HWY_EXPORT(DropElements);

constexpr int64_t kLengths[] = {1, 2, 7, 8, 9, 15, 31, 64, 65, 100, 127, 128, 129, 384, 768, 1021};
constexpr float kGuard = -7.0f;

// Keys, rows and samples that use all 32 bits.
std::vector<DropoutRow> rows() {
  std::vector<DropoutRow> rows;
  const int32_t random_keys[][2] = {{0, 0}, {42, 7}, {-1, -1}, {0x12345678, 100000}};
  uint32_t number = 0;
  for (const auto& key : random_keys) {
    for (const double rate : {0.1, 0.5, 0.999}) {
      DropoutRow row = dropout_row(rate, 3, key);
      row.sample = number * 0x9E3779B9u;
      row.row = number * 0x01000193u;
      rows.push_back(row);
      ++number;
    }
  }
  return rows;
}

std::vector<float> expected_multipliers(const DropoutRow& row, int64_t n) {
  std::vector<float> expected;
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t number = ops::dropout_number(row.key, row.sample, row.row, n, i);
    expected.push_back(number >= row.threshold ? row.scale : 0.0f);
  }
  return expected;
}

TEST(DropoutMask, EqualsTheDefinitionForEveryLengthAndInstructionSet) {
  for_each_target([] {
    for (const DropoutRow& row : rows()) {
      for (const int64_t n : kLengths) {
        std::vector<float> expected = expected_multipliers(row, n);
        expected.push_back(kGuard);
        std::vector<float> multipliers(static_cast<size_t>(n + 1), kGuard);
        HWY_DYNAMIC_DISPATCH(WriteMultipliers)(row, n, multipliers.data());
        EXPECT_EQ(multipliers, expected) << n << " elements, threshold " << row.threshold;
      }
    }
  });
}

TEST(DropoutMask, AppliesInPlace) {
  for_each_target([] {
    for (const DropoutRow& row : rows()) {
      for (const int64_t n : kLengths) {
        std::vector<float> expected = expected_multipliers(row, n);
        expected.push_back(kGuard);
        std::vector<float> x(static_cast<size_t>(n + 1), kGuard);
        for (int64_t i = 0; i < n; ++i) {
          x[static_cast<size_t>(i)] = static_cast<float>(i + 1);
          expected[static_cast<size_t>(i)] *= static_cast<float>(i + 1);
        }
        HWY_DYNAMIC_DISPATCH(DropElements)(row, n, x.data());
        EXPECT_EQ(x, expected) << n << " elements, threshold " << row.threshold;
      }
    }
  });
}

TEST(DropoutMask, KeepsTheShareItShould) {
  const int32_t random_key[] = {1, 2};
  DropoutRow row = dropout_row(0.1, 0, random_key);
  std::vector<float> multipliers(1 << 16);
  HWY_DYNAMIC_DISPATCH(WriteMultipliers)
  (row, static_cast<int64_t>(multipliers.size()), multipliers.data());
  double mean = 0.0;
  for (const float multiplier : multipliers) mean += multiplier;
  mean /= static_cast<double>(multipliers.size());
  // One element's variance is rate / (1 - rate); five standard deviations of the mean.
  EXPECT_LT(std::abs(mean - 1.0), 5.0 * std::sqrt(0.1 / 0.9 / 65536.0));
}

}  // namespace
}  // namespace cloze::backend::cpu
#endif  // HWY_ONCE

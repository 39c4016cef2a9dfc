// Products of small whole numbers, whose sums are exact in f32: results must be equal.
#include "backend/cpu/pair_product.h"

#include <gtest/gtest.h>

#include <vector>

namespace cloze::backend::cpu {
namespace {

constexpr int64_t kStride = 70;  // of the rows that are packed

struct AlignedBuffer {
  explicit AlignedBuffer(int64_t count) : room(static_cast<size_t>(count) + 32) {
    const auto address = reinterpret_cast<uintptr_t>(room.data());
    data = room.data() + (64 - address % 64) % 64 / sizeof(bfloat16);
  }
  std::vector<bfloat16> room;
  bfloat16* data = nullptr;
};

bfloat16 whole_number(int64_t i) { return bfloat16(static_cast<float>(i * 11 % 7 - 3)); }

std::vector<bfloat16> whole_numbers(int64_t count) {
  std::vector<bfloat16> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(whole_number(i * i));
  return values;
}

// Element (row, column) of a matrix of which there is only a part.
float element(const PairRows& m, int64_t row, int64_t column) {
  if (row >= m.count || column >= m.width) return 0.0f;
  return static_cast<float>(m.rows[row * m.stride + column]);
}

// All that this processor has, and loops.
std::vector<PairUnits> all_units() {
  std::vector<PairUnits> units = {PairUnits::kNone};
  if (pair_units() != PairUnits::kNone) units.push_back(PairUnits::kDotProducts);
  if (pair_units() == PairUnits::kTiles) units.push_back(PairUnits::kTiles);
  return units;
}

void check(const PairRows& from, bool is_transposed, int64_t columns, int64_t depth) {
  const std::vector<bfloat16> a = whole_numbers(kPairProductRows * depth);
  const AlignedBuffer b(columns * depth);
  (is_transposed ? pack_transposed_pairs : pack_pairs)(from, columns, depth, b.data);
  std::vector<float> expected;
  for (int64_t i = 0; i < kPairProductRows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      float sum = 0.0f;
      for (int64_t k = 0; k < depth; ++k) {
        sum += static_cast<float>(a[i * depth + k]) *
               (is_transposed ? element(from, j, k) : element(from, k, j));
      }
      expected.push_back(sum);
    }
  }
  for (const PairUnits units : all_units()) {
    std::vector<float> c(expected.size(), -1.0f);
    PairMultiplier(units).multiply({columns, depth, a.data(), b.data, c.data()});
    EXPECT_EQ(c, expected) << from.count << " x " << from.width << " in " << columns << " x "
                           << depth << ", units " << static_cast<int>(units);
  }
}

TEST(PairProduct, IsExactForWholeNumbers) {
  const std::vector<bfloat16> matrix = whole_numbers(kStride * 64);
  for (const int64_t count : {1, 17, 32, 63, 64}) {
    for (const int64_t width : {1, 8, 31, 64}) {
      const PairRows from{matrix.data(), kStride, count, width};
      const int64_t rows = (count + kPairStep - 1) / kPairStep * kPairStep;
      const int64_t columns = (width + kPairStep - 1) / kPairStep * kPairStep;
      check(from, /*is_transposed=*/true, rows, columns);
      check(from, /*is_transposed=*/false, columns, rows);
    }
  }
}

}  // namespace
}  // namespace cloze::backend::cpu

// Products of small whole numbers, whose sums are exact in f32: results must be equal.
#include "backend/cpu/native/pair_product.h"

#include <gtest/gtest.h>

#include <vector>

#include "backend/cpu/native/pair_packing.h"

namespace cloze::backend::cpu {
namespace {

struct AlignedBuffer {
  explicit AlignedBuffer(int64_t count) : room(static_cast<size_t>(count) + 32) {
    const auto address = reinterpret_cast<uintptr_t>(room.data());
    data = room.data() + (64 - address % 64) % 64 / sizeof(bfloat16);
  }
  std::vector<bfloat16> room;
  bfloat16* data = nullptr;
};

std::vector<bfloat16> whole_numbers(int64_t count) {
  std::vector<bfloat16> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(bfloat16(static_cast<float>(i * i * 11 % 7 - 3)));
  }
  return values;
}

// All units that this processor has, and plain loops.
std::vector<PairUnits> all_units() {
  std::vector<PairUnits> units = {PairUnits::kNone};
  if (pair_units() != PairUnits::kNone) units.push_back(PairUnits::kDotProducts);
  if (pair_units() == PairUnits::kTiles) units.push_back(PairUnits::kTiles);
  return units;
}

struct Sizes {
  int64_t rows, columns, depth;
};

void check(const Sizes& sizes, bool accumulates) {
  const int64_t a_stride = sizes.depth + 6;
  const std::vector<bfloat16> a = whole_numbers(sizes.rows * a_stride);
  const std::vector<bfloat16> b = whole_numbers(sizes.depth * sizes.columns);
  const AlignedBuffer panels(sizes.columns * sizes.depth);
  pack_pairs(HalfRows{b.data(), sizes.columns, sizes.depth, sizes.columns},
             {panels.data, sizes.columns, sizes.depth});
  constexpr float kBefore = 5.0f;
  std::vector<float> expected;
  for (int64_t i = 0; i < sizes.rows; ++i) {
    for (int64_t j = 0; j < sizes.columns; ++j) {
      float sum = accumulates ? kBefore : 0.0f;
      for (int64_t k = 0; k < sizes.depth; ++k) {
        sum +=
            static_cast<float>(a[i * a_stride + k]) * static_cast<float>(b[k * sizes.columns + j]);
      }
      expected.push_back(sum);
    }
  }
  const auto expect = [&](PairUnits units, FetchQueue* queue) {
    std::vector<float> c(expected.size(), kBefore);
    PairMultiplier(units).multiply({sizes.rows, sizes.columns, sizes.depth, a.data(), a_stride,
                                    panels.data, c.data(), accumulates, queue});
    EXPECT_EQ(c, expected) << sizes.rows << " x " << sizes.columns << " x " << sizes.depth
                           << ", units " << static_cast<int>(units) << ", adds " << accumulates;
  };
  for (const PairUnits units : all_units()) {
    expect(units, nullptr);
    // A queue that is soon empty, and one that outlasts the product.
    for (const int64_t bytes : {int64_t{64}, int64_t{1} << 20}) {
      const std::vector<char> read_later(static_cast<size_t>(bytes));
      FetchQueue queue;
      queue.add(read_later.data(), bytes);
      expect(units, &queue);
    }
  }
}

TEST(PairProduct, IsExactForWholeNumbers) {
  for (int64_t extent = kPairStep; extent <= 5 * kPairStep; extent += kPairStep) {
    for (const bool accumulates : {false, true}) {
      check({kPairProductRows, kPairStep, extent}, accumulates);
      check({kPairProductRows, extent, kPairStep}, accumulates);
      check({2 * kPairProductRows, extent, 2 * kPairStep}, accumulates);
    }
  }
}

}  // namespace
}  // namespace cloze::backend::cpu

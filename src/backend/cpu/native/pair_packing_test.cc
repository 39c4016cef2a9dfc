// Every element of an operand against the element it is to be, for every extent up to beyond two
// steps of a product.
#include "backend/cpu/native/pair_packing.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "backend/cpu/vector_target_test.h"
#include "backend/testing/guarded_buffer.h"

namespace cloze::backend::cpu {
namespace {

constexpr int64_t kMost = kTransposedDepth + 2;
static_assert(kMost > 2 * kPairStep);
constexpr int64_t kStride = kMost + 3;  // odd: rows do not begin where words do

// Different from all neighbours, and exact in bf16.
float number(int64_t i) { return static_cast<float>(1 + i % 251); }

template <typename T>
MatrixRows<T> matrix(int64_t count, int64_t width) {
  static const std::vector<T> values = [] {
    std::vector<T> numbers;
    for (int64_t i = 0; i < kMost * kStride; ++i) numbers.push_back(T(number(i)));
    return numbers;
  }();
  return {values.data(), kStride, count, width};
}

template <typename T>
float element(const MatrixRows<T>& m, int64_t row, int64_t column) {
  if (row >= m.count || column >= m.width) return 0.0f;
  return static_cast<float>(m.rows[row * m.stride + column]);
}

int64_t place_in_panels(int64_t depth, int64_t k, int64_t j) {
  return j / kPairPanelColumns * kPairPanelColumns * depth + k / 2 * kPanelPair +
         j % kPairPanelColumns * 2 + k % 2;
}

// What `pack` leaves in memory for so many elements.
std::vector<float> packed(int64_t count, const std::function<void(bfloat16*)>& pack) {
  testing::GuardedBuffer memory(static_cast<size_t>(count) * sizeof(bfloat16));
  memory.fill_with_nan();
  auto* const data = static_cast<bfloat16*>(memory.data());
  pack(data);
  EXPECT_TRUE(memory.guards_are_intact());
  return std::vector<float>(data, data + count);
}

using Element = std::function<float(int64_t k, int64_t j)>;

std::vector<float> panels_of(int64_t columns, int64_t depth, const Element& element) {
  std::vector<float> panels(columns * depth);
  for (int64_t k = 0; k < depth; ++k) {
    for (int64_t j = 0; j < columns; ++j) panels[place_in_panels(depth, k, j)] = element(k, j);
  }
  return panels;
}

// check(count, width) for every extent of one of them, and a few of the other.
void for_each_size(const std::function<void(int64_t, int64_t)>& check) {
  for (int64_t extent = 1; extent <= kMost; ++extent) {
    for (const int64_t other : {int64_t{1}, int64_t{7}, int64_t{16}, kPairStep + 1, kMost}) {
      SCOPED_TRACE(::testing::Message() << extent << " and " << other);
      check(extent, other);
      check(other, extent);
    }
  }
}

TEST(PairPacking, LaysOutRows) {
  for_each_target([] {
    for_each_size([](int64_t count, int64_t width) {
      const PairRows from = matrix<bfloat16>(count, width);
      const int64_t rows = whole_pair_steps(count), depth = whole_pair_steps(width);
      std::vector<float> expected;
      for (int64_t i = 0; i < rows * depth; ++i) {
        expected.push_back(element(from, i / depth, i % depth));
      }
      EXPECT_EQ(packed(rows * depth, [&](bfloat16* to) { pack_rows(from, rows, depth, to); }),
                expected);
      const MatrixRows<float> floats = matrix<float>(count, width);
      EXPECT_EQ(
          packed(rows * depth, [&](bfloat16* to) { pack_rounded_rows(floats, rows, depth, to); }),
          expected);
    });
  });
}

TEST(PairPacking, LaysOutPanels) {
  for_each_target([] {
    for_each_size([](int64_t count, int64_t width) {
      const PairRows from = matrix<bfloat16>(count, width);
      const int64_t depth = whole_pair_steps(count), columns = whole_pair_steps(width);
      EXPECT_EQ(
          packed(columns * depth, [&](bfloat16* to) { pack_pairs(from, columns, depth, to); }),
          panels_of(columns, depth, [&](int64_t k, int64_t j) { return element(from, k, j); }));
      const MatrixRows<float> floats = matrix<float>(count, width);
      EXPECT_EQ(
          packed(columns * depth,
                 [&](bfloat16* to) { pack_rounded_pairs(floats, columns, depth, to); }),
          panels_of(columns, depth, [&](int64_t k, int64_t j) { return element(floats, k, j); }));
    });
  });
}

TEST(PairPacking, RoundsToNearestEven) {
  std::vector<float> row;
  for (int64_t i = 0; i < kPairPanelColumns; ++i) {
    row.push_back(1.0f + static_cast<float>(i) * 0x1p-9f);
  }
  std::vector<float> expected;
  for (const float value : row) {
    expected.insert(expected.end(), {static_cast<float>(bfloat16(value)), 0.0f});
  }
  for_each_target([&] {
    EXPECT_EQ(
        packed(
            kPanelPair,
            [&](bfloat16* to) {
              pack_rounded_pairs({row.data(), 0, 1, kPairPanelColumns}, kPairPanelColumns, 2, to);
            }),
        expected);
  });
}

TEST(PairPacking, LaysOutPanelsOfTheTransposed) {
  for_each_target([] {
    for_each_size([](int64_t count, int64_t width) {
      const PairRows from = matrix<bfloat16>(count, width);
      const int64_t columns = whole_pair_steps(count), depth = whole_pair_steps(width);
      EXPECT_EQ(
          packed(columns * depth,
                 [&](bfloat16* to) { pack_transposed_pairs(from, columns, depth, to); }),
          panels_of(columns, depth, [&](int64_t k, int64_t j) { return element(from, j, k); }));
    });
  });
}

TEST(PairPacking, TransposesPanels) {
  for_each_target([] {
    for (int64_t count = 1; count <= kTransposedDepth; ++count) {
      const PairRows from = matrix<bfloat16>(count, kPairStep + 5);
      const int64_t depth = whole_pair_steps(count), columns = whole_pair_steps(from.width);
      testing::GuardedBuffer panels(static_cast<size_t>(columns * depth) * sizeof(bfloat16));
      auto* const data = static_cast<bfloat16*>(panels.data());
      pack_pairs(from, columns, depth, data);
      std::vector<float> expected;
      for (int64_t i = 0; i < columns * kTransposedDepth; ++i) {
        expected.push_back(element(from, i % kTransposedDepth, i / kTransposedDepth));
      }
      EXPECT_EQ(packed(columns * kTransposedDepth,
                       [&](bfloat16* to) { transpose_panels(data, columns, depth, to); }),
                expected)
          << count;
    }
  });
}

}  // namespace
}  // namespace cloze::backend::cpu

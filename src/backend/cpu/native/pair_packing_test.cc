// Every element of a packed operand against the expected one, for every extent up to more than two
// steps of a product.
#include "backend/cpu/native/pair_packing.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "backend/cpu/vector_target_test.h"
#include "backend/testing/guarded_buffer.h"

namespace cloze::backend::cpu {
namespace {

constexpr int64_t kMost = 2 * 128 + 2;  // what is transposed at a time, twice
constexpr int64_t kStride = kMost + 3;  // odd: rows are not word-aligned

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

int64_t place_in_panels(const PairPanels& p, int64_t k, int64_t j) {
  return j / p.panel_columns * p.panel_columns * p.depth + k / 2 * 2 * p.panel_columns +
         j % p.panel_columns * 2 + k % 2;
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

std::vector<float> panels_of(const PairPanels& p, const Element& element) {
  std::vector<float> panels(p.columns * p.depth);
  for (int64_t k = 0; k < p.depth; ++k) {
    for (int64_t j = 0; j < p.columns; ++j) panels[place_in_panels(p, k, j)] = element(k, j);
  }
  return panels;
}

// Panels of both widths for so many rows and columns.
std::vector<PairPanels> shapes_of(int64_t depth, int64_t columns) {
  return {{nullptr, whole_pair_steps(columns), whole_pair_steps(depth), kPairPanelColumns},
          {nullptr, (columns + 63) / 64 * 64, whole_pair_steps(depth), 64}};
}

// check(count, width) for every extent of one of them, and a few of the other.
void for_each_size(const std::function<void(int64_t, int64_t)>& check) {
  for (int64_t extent = 1; extent <= kMost; ++extent) {
    for (const int64_t other : {int64_t{1}, int64_t{16}, kPairStep + 1, int64_t{97}}) {
      SCOPED_TRACE(::testing::Message() << extent << " and " << other);
      check(extent, other);
      check(other, extent);
    }
  }
}

TEST(PairPacking, LaysOutRows) {
  for_each_target([] {
    for_each_size([](int64_t count, int64_t width) {
      const HalfRows from = matrix<bfloat16>(count, width);
      const int64_t rows = whole_pair_steps(count), depth = whole_pair_steps(width);
      std::vector<float> expected;
      for (int64_t i = 0; i < rows * depth; ++i) {
        expected.push_back(element(from, i / depth, i % depth));
      }
      EXPECT_EQ(packed(rows * depth, [&](bfloat16* to) { pack_rows(from, rows, depth, to); }),
                expected);
      const FloatRows floats = matrix<float>(count, width);
      EXPECT_EQ(packed(rows * depth, [&](bfloat16* to) { pack_rows(floats, rows, depth, to); }),
                expected);
    });
  });
}

template <typename T>
std::vector<float> pairs_of(const MatrixRows<T>& from, const PairPanels& panels) {
  return packed(panels.columns * panels.depth, [&](bfloat16* to) {
    PairPanels at = panels;
    at.panels = to;
    pack_pairs(from, at);
  });
}

template <typename T>
std::vector<float> transposed_pairs_of(const MatrixRows<T>& from, const PairPanels& panels) {
  return packed(panels.columns * panels.depth, [&](bfloat16* to) {
    PairPanels at = panels;
    at.panels = to;
    pack_transposed_pairs(from, at);
  });
}

TEST(PairPacking, LaysOutPanels) {
  for_each_target([] {
    for_each_size([](int64_t count, int64_t width) {
      const HalfRows from = matrix<bfloat16>(count, width);
      for (const PairPanels& panels : shapes_of(count, width)) {
        const std::vector<float> expected =
            panels_of(panels, [&](int64_t k, int64_t j) { return element(from, k, j); });
        EXPECT_EQ(pairs_of(from, panels), expected);
        EXPECT_EQ(pairs_of(matrix<float>(count, width), panels), expected);
      }
    });
  });
}

TEST(PairPacking, LaysOutPanelsOfTheTransposed) {
  for_each_target([] {
    for_each_size([](int64_t count, int64_t width) {
      const HalfRows from = matrix<bfloat16>(count, width);
      for (const PairPanels& panels : shapes_of(width, count)) {
        const std::vector<float> expected =
            panels_of(panels, [&](int64_t k, int64_t j) { return element(from, j, k); });
        EXPECT_EQ(transposed_pairs_of(from, panels), expected);
        EXPECT_EQ(transposed_pairs_of(matrix<float>(count, width), panels), expected);
      }
    });
  });
}

TEST(PairPacking, RoundsToNearestEven) {
  std::vector<float> row;
  for (int64_t i = 0; i < kPairPanelColumns; ++i) {
    row.push_back(1.0f + static_cast<float>(i) * 0x1p-9f);
  }
  const FloatRows from{row.data(), 0, 1, kPairPanelColumns};
  const PairPanels panels{nullptr, kPairPanelColumns, 2};
  const PairPanels transposed{nullptr, kPairPanelColumns, kPairPanelColumns};
  const auto rounded = [&](int64_t i) { return static_cast<float>(bfloat16(row[i])); };
  for_each_target([&] {
    EXPECT_EQ(pairs_of(from, panels),
              panels_of(panels, [&](int64_t k, int64_t j) { return k == 0 ? rounded(j) : 0.0f; }));
    EXPECT_EQ(
        transposed_pairs_of(from, transposed),
        panels_of(transposed, [&](int64_t k, int64_t j) { return j == 0 ? rounded(k) : 0.0f; }));
  });
}

TEST(PairPacking, TransposesPanels) {
  for_each_target([] {
    for (int64_t count = 1; count <= kMost; ++count) {
      const HalfRows from = matrix<bfloat16>(count, kPairStep + 5);
      PairPanels panels{nullptr, whole_pair_steps(from.width), whole_pair_steps(count)};
      testing::GuardedBuffer memory(static_cast<size_t>(panels.columns * panels.depth) *
                                    sizeof(bfloat16));
      panels.panels = static_cast<bfloat16*>(memory.data());
      pack_pairs(from, panels);
      std::vector<float> expected;
      for (int64_t i = 0; i < panels.columns * panels.depth; ++i) {
        expected.push_back(element(from, i % panels.depth, i / panels.depth));
      }
      EXPECT_EQ(packed(panels.columns * panels.depth,
                       [&](bfloat16* to) { transpose_panels(panels, panels.depth, to); }),
                expected)
          << count;
    }
  });
}

}  // namespace
}  // namespace cloze::backend::cpu

// Products of small whole numbers, whose sums are exact in f32: results must be equal.
#include "backend/cpu/product.h"

#include <fmt/format.h>

#include <cstring>
#include <string>
#include <vector>

#include "backend/cpu/product_plan.h"
#include "backend/cpu/storage.h"
#include "backend/cpu/vector_target_test.h"

namespace cloze::backend::cpu {
namespace {

// A matrix of whole numbers in [-3, 3], stored as f32 or bf16; or f32 values so close to them that
// they become whole when rounded to bf16.
class Matrix {
 public:
  Matrix(int64_t rows, int64_t columns, DType dtype, bool rounds, uint32_t seed)
      : columns_(columns),
        dtype_(dtype),
        stored_(rounds ? DType::kF32 : dtype),
        bytes_(rows * columns * bytes_of(stored_)) {
    for (int64_t i = 0; i < rows * columns; ++i) {
      seed = seed * 1664525u + 1013904223u;
      const float whole =
          static_cast<float>(seed >> 16 & 7u) - 4.0f + static_cast<float>(seed >> 31);
      set(i, rounds ? whole * (1.0f + 0x1p-12f) : whole);
    }
  }
  // The value that an element counts as.
  float at(int64_t i, int64_t j) const {
    const int64_t k = i * columns_ + j;
    float value = 0.0f;
    with_storage(stored_, [&]<class T>(Storage<T>) {
      value = static_cast<float>(reinterpret_cast<const T*>(bytes_.data())[k]);
    });
    with_storage(dtype_,
                 [&]<class T>(Storage<T>) { value = static_cast<float>(static_cast<T>(value)); });
    return value;
  }
  const void* data() const { return bytes_.data(); }
  int64_t stride() const { return columns_; }

 private:
  void set(int64_t i, float value) {
    with_storage(stored_, [&]<class T>(Storage<T>) {
      reinterpret_cast<T*>(bytes_.data())[i] = static_cast<T>(value);
    });
  }

  int64_t columns_;
  DType dtype_;
  DType stored_;
  std::vector<char> bytes_;
};

// Operands of a product, and its exact result.
struct Problem {
  explicit Problem(const ProductShape& s)
      : shape(s),
        a(s.a_is_transposed ? s.depth : s.m, s.a_is_transposed ? s.m : s.depth, s.a_dtype,
          s.rounds_a, 1),
        b(s.b_is_transposed ? s.n : s.depth, s.b_is_transposed ? s.depth : s.n, s.b_dtype,
          s.rounds_b, 2) {
    workspace.resize(Product(shape).workspace_bytes() + 64);
  }
  float a_at(int64_t i, int64_t k) const { return shape.a_is_transposed ? a.at(k, i) : a.at(i, k); }
  float b_at(int64_t k, int64_t j) const { return shape.b_is_transposed ? b.at(j, k) : b.at(k, j); }
  std::vector<float> expected() const {
    std::vector<float> c(shape.m * shape.n);
    std::vector<float> b_row(shape.n);
    for (int64_t k = 0; k < shape.depth; ++k) {
      for (int64_t j = 0; j < shape.n; ++j) b_row[j] = b_at(k, j);
      for (int64_t i = 0; i < shape.m; ++i) {
        const float value = a_at(i, k);
        for (int64_t j = 0; j < shape.n; ++j) c[i * shape.n + j] += value * b_row[j];
      }
    }
    return c;
  }
  ProductCall call() {
    ProductCall call{shape.m, shape.n, shape.depth, a.data(), a.stride(), b.data(), b.stride()};
    const auto address = reinterpret_cast<uintptr_t>(workspace.data());
    call.workspace = reinterpret_cast<void*>((address + 63) / 64 * 64);
    call.c_stride = shape.n;
    return call;
  }

  ProductShape shape;
  Matrix a, b;
  std::vector<char> workspace;
};

// More than is packed at a time: it needs a second group of columns, and of the depth where that is
// divided.
constexpr int64_t kSeveralGroups[] = {13, 1500, 3400};
static_assert(kSeveralGroups[1] * ProductPlan::kMostGroupDepth > ProductPlan::kPackedElements);
static_assert(kSeveralGroups[2] > ProductPlan::kMostGroupDepth);

std::vector<ProductShape> shapes_of_several_groups() {
  std::vector<ProductShape> all;
  for (const bool a_is_transposed : {false, true}) {
    for (const bool b_is_transposed : {false, true}) {
      for (const DType dtype : {DType::kF32, DType::kBF16}) {
        all.push_back({kSeveralGroups[0], kSeveralGroups[1], kSeveralGroups[2], a_is_transposed,
                       b_is_transposed, dtype, dtype, false, false, 0, 3});
      }
    }
  }
  return all;
}

// Sizes below, at and across the borders of tiles, blocks and groups.
std::vector<ProductShape> shapes() {
  std::vector<ProductShape> all;
  const int64_t sizes[][3] = {{1, 1, 1},   {5, 17, 3},     {6, 16, 320},  {97, 33, 321},
                              {12, 32, 7}, {200, 300, 65}, {13, 40, 3400}};
  for (const auto& size : sizes) {
    for (const bool a_is_transposed : {false, true}) {
      for (const bool b_is_transposed : {false, true}) {
        for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
          for (const int threads : {1, 3}) {
            all.push_back({size[0], size[1], size[2], a_is_transposed, b_is_transposed, dtype,
                           dtype, false, false, 0, threads});
          }
          if (dtype == DType::kF32) continue;
          all.push_back({size[0], size[1], size[2], a_is_transposed, b_is_transposed, dtype, dtype,
                         true, true, 0, 3});
        }
      }
    }
  }
  for (const ProductShape& shape : shapes_of_several_groups()) all.push_back(shape);
  return all;
}

std::string describe(const ProductShape& s) {
  return fmt::format("m {} n {} depth {}, transposed {} {}, {}{}, threads {}", s.m, s.n, s.depth,
                     s.a_is_transposed, s.b_is_transposed, name_of(s.a_dtype),
                     s.rounds_a ? ", rounded" : "", s.num_threads);
}

TEST(Product, IsExactForWholeNumbers) {
  for_each_target([] {
    for (const ProductShape& shape : shapes()) {
      Problem problem(shape);
      const std::vector<float> expected = problem.expected();
      for (const bool accumulates : {false, true}) {
        std::vector<float> c(shape.m * shape.n, 5.0f);
        ProductCall call = problem.call();
        call.c = c.data();
        call.accumulates = accumulates;
        Product(shape).run(call);
        for (float& sum : c) sum -= accumulates ? 5.0f : 0.0f;
        EXPECT_EQ(c, expected) << describe(shape);
      }
    }
  });
}

TEST(Product, SumsTheRowsOfATransposedA) {
  for_each_target([] {
    for (const ProductShape& shape : shapes()) {
      if (!shape.a_is_transposed) continue;
      Problem problem(shape);
      std::vector<float> c(shape.m * shape.n), sums(shape.m, 1.0f), expected(shape.m, 1.0f);
      ProductCall call = problem.call();
      call.c = c.data();
      call.row_sums = sums.data();
      call.adds_row_sums = true;
      Product(shape).run(call);
      for (int64_t i = 0; i < shape.m; ++i) {
        for (int64_t k = 0; k < shape.depth; ++k) expected[i] += problem.a_at(i, k);
      }
      EXPECT_EQ(sums, expected) << describe(shape);
    }
  });
}

// Adds every block it is given, so that a block given twice would show.
class AddingSink final : public ProductSink {
 public:
  explicit AddingSink(std::vector<float>& c, int64_t n) : c_(c), n_(n) {}
  void take(const ProductBlock& block) override {
    for (int64_t i = 0; i < block.rows; ++i) {
      for (int64_t j = 0; j < block.columns; ++j) {
        c_[(block.row + i) * n_ + block.column + j] += block.values[i * block.stride + j];
      }
    }
  }

 private:
  std::vector<float>& c_;
  int64_t n_;
};

TEST(Product, GivesEverySumToTheSinkOnce) {
  for (const ProductShape& shape : shapes()) {
    if (shape.a_is_transposed) continue;
    Problem problem(shape);
    std::vector<float> c(shape.m * shape.n);
    AddingSink sink(c, shape.n);
    ProductCall call = problem.call();
    call.sink = &sink;
    Product(shape).run(call);
    EXPECT_EQ(c, problem.expected()) << describe(shape);
  }
}

TEST(Product, ServesCallsSmallerThanItsShape) {
  const ProductShape shape{40, 50, 400};
  Problem problem(shape);
  std::vector<float> c(7 * 9, -1.0f), expected(7 * 9);
  ProductCall call = problem.call();
  call.m = 7;
  call.n = 9;
  call.depth = 11;
  call.c = c.data();
  call.c_stride = 9;
  Product(shape).run(call);
  for (int64_t i = 0; i < 7; ++i) {
    for (int64_t j = 0; j < 9; ++j) {
      for (int64_t k = 0; k < 11; ++k)
        expected[i * 9 + j] += problem.a_at(i, k) * problem.b_at(k, j);
    }
  }
  EXPECT_EQ(c, expected);
}

TEST(ProductPlan, PacksAtMostAFewMegabytes) {
  ProductShape shape{4096, 30522, 768};
  const ProductPlan plan = plan_product(shape, {6, 16}, false);
  EXPECT_LE(plan.packed_floats(), ProductPlan::kPackedElements + 16 * plan.group_depth);
  EXPECT_EQ(plan.group_depth, 768);  // the sink takes no unfinished sums
  EXPECT_EQ(plan.packed_columns % 16, 0);
}

// What the tests above rely on, whatever the tile.
TEST(ProductPlan, PacksALargeProductInSeveralGroups) {
  for_each_target([] {
    for (const ProductShape& shape : shapes_of_several_groups()) {
      const ProductPlan plan = plan_product(shape, register_tile(), shape.a_is_transposed);
      EXPECT_LT(plan.packed_columns, shape.n) << describe(shape);
      EXPECT_EQ(plan.group_depth < shape.depth, shape.a_is_transposed) << describe(shape);
    }
  });
}

TEST(ProductPlan, DividesADeepProduct) {
  ProductShape shape{768, 768, 8192};
  const ProductPlan plan = plan_product(shape, {6, 16}, true);
  EXPECT_LT(plan.group_depth, 8192);
  EXPECT_EQ(plan.group_depth % plan.depth_block, 0);
  EXPECT_LE(plan.depth_block, ProductPlan::kMostDepth);
}

}  // namespace
}  // namespace cloze::backend::cpu

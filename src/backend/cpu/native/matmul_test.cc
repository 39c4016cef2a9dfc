// Products of small whole numbers by oneDNN, whose sums are exact in f32: results must be equal.
#include "backend/cpu/native/matmul.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <memory>
#include <new>
#include <vector>

#include "plan/kept_bytes.h"
#include "platform/memory.h"

namespace cloze::backend::cpu {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHasShadowMemory = true;
#else
constexpr bool kHasShadowMemory = false;
#endif

struct AlignedDelete {
  void operator()(void* data) const { ::operator delete (data, std::align_val_t{64}); }
};
std::unique_ptr<void, AlignedDelete> allocate(size_t bytes) {
  return std::unique_ptr<void, AlignedDelete>(::operator new (bytes + 64, std::align_val_t{64}));
}

std::vector<float> whole_numbers(int64_t count, int64_t step) {
  std::vector<float> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    values[static_cast<size_t>(i)] = static_cast<float>(i * step % 7 - 3);
  }
  return values;
}

// Element (row, column) of a group's matrix, stored row by row, or column by column. Groups of
// activations lie side by side in each stored row, those of weights one after the other.
struct Stored {
  int64_t groups, rows, columns;
  bool is_transposed, are_weights;

  size_t at(int64_t group, int64_t row, int64_t column) const {
    if (is_transposed)
      return Stored{groups, columns, rows, false, are_weights}.at(group, column, row);
    const int64_t line = are_weights ? group * rows + row : row * groups + group;
    return static_cast<size_t>(line * columns + column);
  }
};

std::vector<float> expected(const MatmulShape& s, const std::vector<float>& a,
                            const std::vector<float>& b, const std::vector<float>& bias) {
  const Stored a_at{s.groups, s.m, s.depth, s.a_is_transposed, false};
  const Stored b_at{s.groups, s.depth, s.n, s.b_is_transposed, !s.a_is_transposed};
  const Stored c_at{s.groups, s.m, s.n, false, s.a_is_transposed};
  std::vector<float> c(static_cast<size_t>(s.groups * s.m * s.n), s.accumulates ? 2.0f : 0.0f);
  for (int64_t g = 0; g < s.groups; ++g) {
    for (int64_t i = 0; i < s.m; ++i) {
      for (int64_t j = 0; j < s.n; ++j) {
        float sum = s.has_bias ? bias[j] : 0.0f;
        for (int64_t k = 0; k < s.depth; ++k) sum += a[a_at.at(g, i, k)] * b[b_at.at(g, k, j)];
        c[c_at.at(g, i, j)] += sum;
      }
    }
  }
  return c;
}

void check(const MatmulShape& shape) {
  const std::vector<float> a = whole_numbers(shape.groups * shape.m * shape.depth, 5);
  const std::vector<float> b = whole_numbers(shape.groups * shape.n * shape.depth, 11);
  const std::vector<float> bias = whole_numbers(shape.n, 3);
  std::vector<float> c(static_cast<size_t>(shape.groups * shape.m * shape.n), 2.0f);
  Matmul matmul(shape);
  const auto packed = allocate(matmul.packed_bytes());
  const auto scratch = allocate(matmul.scratch_bytes());
  MatmulCall call{a.data(), matmul.pack(b.data(), packed.get()), bias.data(), c.data(),
                  scratch.get()};
  matmul.run(call);
  EXPECT_EQ(c, expected(shape, a, b, bias)) << fmt::format(
      "m {} n {} depth {} groups {}, transposed {} {}, bias {}, accumulates {}, threads {}",
      shape.m, shape.n, shape.depth, shape.groups, shape.a_is_transposed, shape.b_is_transposed,
      shape.has_bias, shape.accumulates, shape.num_threads);
}

TEST(Matmul, IsExactForWholeNumbers) {
  for (const int64_t m : {1, 37}) {
    for (const int64_t depth : {1, 70}) {
      for (int flags = 0; flags < 32; ++flags) {
        MatmulShape shape{m, 50, depth};
        shape.a_is_transposed = flags & 1;
        shape.b_is_transposed = flags & 2;
        shape.has_bias = flags & 4;
        shape.accumulates = flags & 8;
        shape.num_threads = flags & 16 ? 3 : 1;
        check(shape);
        if (shape.has_bias || (shape.a_is_transposed && shape.b_is_transposed)) continue;
        shape.groups = 3;
        check(shape);
      }
    }
  }
}

// Where bf16 is native, kernels rely on these; elsewhere there is nothing to show.
TEST(Matmul, MultipliesBfloat16WhereNative) {
  if (const auto refusal = refuse_native_bf16()) GTEST_SKIP() << *refusal;
  for (const DType result : {DType::kF32, DType::kBF16}) {
    MatmulShape shape{64, 64, 64};
    shape.operand_dtype = DType::kBF16;
    shape.result_dtype = result;
    EXPECT_NO_THROW(Matmul{shape});
  }
}

// Products of a layer of BERT-base, made twice as two layers have them: what they keep is what the
// system counts. The library itself is in use before.
TEST(Matmul, KeepsAsMuchMemoryAsItSays) {
  if (!uses(InstructionSet::kAvx512Bf16)) GTEST_SKIP() << "the processor has no AVX512-BF16";
  if (kHasShadowMemory) GTEST_SKIP() << "a sanitizer's own memory would be counted";
  constexpr int64_t kTokens = 1000, kHidden = 768, kIntermediate = 3072;
  std::vector<MatmulShape> shapes;
  for (const int64_t n : {kHidden, kIntermediate}) {
    for (const int64_t depth : {kHidden, kIntermediate}) {
      MatmulShape forward{kTokens, n, depth};
      forward.b_is_transposed = forward.has_bias = true;
      forward.result_dtype = DType::kBF16;
      MatmulShape input_gradient{kTokens, n, depth};
      input_gradient.result_dtype = DType::kBF16;
      MatmulShape weight_gradient{n, depth, kTokens};
      weight_gradient.a_is_transposed = weight_gradient.accumulates = true;
      shapes.insert(shapes.end(), {forward, input_gradient, weight_gradient});
    }
  }
  MatmulShape other{64, 64, 64};
  other.operand_dtype = DType::kBF16;
  std::vector<Matmul> products;
  products.emplace_back(other);
  plan::KeptBytes kept;
  kept.add(products.front().kept_memory());
  const int64_t known = kept.bytes(), before = platform::private_bytes();
  for (int layer = 0; layer < 2; ++layer) {
    for (MatmulShape& shape : shapes) {
      shape.operand_dtype = DType::kBF16;
      products.emplace_back(shape);
      kept.add(products.back().kept_memory());
    }
  }
  const auto said = static_cast<double>(kept.bytes() - known);
  EXPECT_NEAR(static_cast<double>(platform::private_bytes() - before) / said, 1.0, 0.25);
}

}  // namespace
}  // namespace cloze::backend::cpu

// Products of small whole numbers by oneDNN, whose sums are exact in f32: results must be equal.
#include "backend/cpu/native/matmul.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <new>
#include <vector>

#include "backend/cpu/native/pair_packing.h"
#include "backend/cpu/packed_linear.h"
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

std::vector<bfloat16> whole_numbers(int64_t count, int64_t step) {
  std::vector<bfloat16> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(bfloat16(static_cast<float>(i * step % 7 - 3)));
  }
  return values;
}

// The place of element (k, j) of group g in B before packing.
int64_t place_in_b(const MatmulShape& s, int64_t g, int64_t k, int64_t j) {
  return g * s.depth * s.n +
         (s.b == MatmulWeight::kPlainTransposed ? j * s.depth + k : k * s.n + j);
}

std::vector<float> expected(const MatmulShape& s, const std::vector<bfloat16>& a,
                            const std::vector<bfloat16>& b, const std::vector<float>& bias) {
  std::vector<float> c(static_cast<size_t>(s.m * s.groups * s.n), s.accumulates ? 2.0f : 0.0f);
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t g = 0; g < s.groups; ++g) {
      const int64_t row = i * s.groups + g;
      for (int64_t j = 0; j < s.n; ++j) {
        float sum = s.has_bias ? bias[j] : 0.0f;
        for (int64_t k = 0; k < s.depth; ++k) {
          sum += static_cast<float>(a[row * s.depth + k]) *
                 static_cast<float>(b[place_in_b(s, g, k, j)]);
        }
        c[row * s.n + j] += sum;
      }
    }
  }
  return c;
}

void check(const MatmulShape& shape) {
  const std::vector<bfloat16> a = whole_numbers(shape.groups * shape.m * shape.depth, 5);
  const std::vector<bfloat16> b = whole_numbers(shape.groups * shape.n * shape.depth, 11);
  std::vector<float> bias(static_cast<size_t>(shape.n), 3.0f);
  std::vector<float> c(static_cast<size_t>(shape.groups * shape.m * shape.n), 2.0f);
  Matmul matmul(shape);
  const auto scratch = allocate(matmul.scratch_bytes());
  MatmulCall call{a.data(), b.data(), bias.data(), c.data(), scratch.get()};
  PairPanels panels{nullptr, round_up(shape.n, kPairColumns), round_up(shape.depth, kPairDepth),
                    kPairColumns};
  const auto packed =
      allocate(static_cast<size_t>(panels.columns * panels.depth) * sizeof(bfloat16));
  if (shape.b == MatmulWeight::kPairs) {
    panels.panels = static_cast<bfloat16*>(packed.get());
    pack_pairs(HalfRows{b.data(), shape.n, shape.depth, shape.n}, panels);
    call.b = packed.get();
  }
  matmul.run(call);
  EXPECT_EQ(c, expected(shape, a, b, bias))
      << fmt::format("m {} n {} depth {} groups {}, b {}, bias {}, accumulates {}, threads {}",
                     shape.m, shape.n, shape.depth, shape.groups, static_cast<int>(shape.b),
                     shape.has_bias, shape.accumulates, shape.num_threads);
}

// Every number of rows, up to more than two parts of the most rows.
TEST(Matmul, IsExactForWholeNumbers) {
  if (const auto refusal = refuse_any_bf16()) GTEST_SKIP() << *refusal;
  for (int64_t m = 1; m <= 2 * Matmul::kMostRows + 2; ++m) {
    const int64_t flags = m % 8;
    MatmulShape shape{m, 1 + m * 7 % 70, 1 + m * 5 % 70};
    shape.accumulates = flags & 1;
    shape.num_threads = flags & 2 ? 3 : 1;
    shape.has_bias = flags & 4;
    check(shape);
    shape.has_bias = false;
    shape.b = flags & 4 ? MatmulWeight::kPlainTransposed : MatmulWeight::kPlain;
    for (shape.groups = 1; shape.groups <= 3; ++shape.groups) check(shape);
  }
}

// oneDNN sums over the depth in one order, however many rows a part has: so the number of threads,
// which decides the number of rows, does not affect the result.
TEST(Matmul, GivesTheSameBytesForAnyNumberOfThreads) {
  if (const auto refusal = refuse_any_bf16()) GTEST_SKIP() << *refusal;
  for (const int64_t depth : {96, 768, 4096}) {
    MatmulShape shape{130, kPairColumns, depth};
    std::vector<bfloat16> a, b;
    for (int64_t i = 0; i < shape.m * depth; ++i) {
      a.push_back(bfloat16(std::sin(static_cast<float>(i))));
    }
    for (int64_t i = 0; i < shape.n * depth; ++i) {
      b.push_back(bfloat16(std::cos(static_cast<float>(i))));
    }
    std::vector<float> first;
    for (shape.num_threads = 1; shape.num_threads <= 9; ++shape.num_threads) {
      Matmul matmul(shape);
      const auto scratch = allocate(matmul.scratch_bytes());
      std::vector<float> c(static_cast<size_t>(shape.m * shape.n));
      matmul.run({.a = a.data(), .b = b.data(), .c = c.data(), .scratch = scratch.get()});
      if (first.empty()) first = c;
      EXPECT_EQ(c, first) << depth << ", threads " << shape.num_threads;
    }
  }
}

// Products of a layer of BERT-base, made twice as two layers have them: what they claim to keep is
// what the system counts. The library itself has been used before.
TEST(Matmul, KeepsAsMuchMemoryAsItSays) {
  if (!uses(InstructionSet::kAvx512Bf16)) GTEST_SKIP() << "the processor has no AVX512-BF16";
  if (kHasShadowMemory) GTEST_SKIP() << "a sanitizer's own memory would be counted";
  constexpr int64_t kTokens = 1000, kHidden = 768, kIntermediate = 3072;
  std::vector<MatmulShape> shapes;
  for (const int64_t n : {kHidden, kIntermediate}) {
    for (const int64_t depth : {kHidden, kIntermediate}) {
      MatmulShape forward{kTokens, n, depth};
      forward.has_bias = true;
      forward.result_dtype = DType::kBF16;
      MatmulShape input_gradient{kTokens, n, depth};
      input_gradient.result_dtype = DType::kBF16;
      MatmulShape weight_gradient{n, depth, kTokens};
      weight_gradient.accumulates = true;
      shapes.insert(shapes.end(), {forward, input_gradient, weight_gradient});
    }
  }
  MatmulShape other{64, 64, 64};
  std::vector<Matmul> products;
  products.emplace_back(other);
  plan::KeptBytes kept;
  kept.add(products.front().kept_memory());
  const int64_t known = kept.bytes(), before = platform::private_bytes();
  for (int layer = 0; layer < 2; ++layer) {
    for (const MatmulShape& shape : shapes) {
      products.emplace_back(shape);
      kept.add(products.back().kept_memory());
    }
  }
  const auto said = static_cast<double>(kept.bytes() - known);
  EXPECT_NEAR(static_cast<double>(platform::private_bytes() - before) / said, 1.0, 0.25);
}

}  // namespace
}  // namespace cloze::backend::cpu

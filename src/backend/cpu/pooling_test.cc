// The same bytes whatever else is in the batch, on every instruction set. What the bytes are is
// compared with the reference by kernels_test.cc.
#include "ops/pooling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "backend/cpu/backend.h"
#include "backend/cpu/vector_target_test.h"
#include "backend/testing/case_inputs.h"
#include "backend/testing/run_kernel.h"

namespace cloze::backend::cpu {
namespace {

using ops::PoolingMode;
using testing::Tensor;

constexpr int64_t kHidden = 37;
const std::vector<int64_t> kLengths = {3, 1, 50, 0, 17, 4};
const ops::PoolingAttributes kAllModes{{PoolingMode::kFirst, PoolingMode::kMean, PoolingMode::kMax,
                                        PoolingMode::kMeanSqrtLength, PoolingMode::kWeightedMean,
                                        PoolingMode::kLast}};

Tensor normal(DType dtype, Shape shape) {
  Tensor tensor = testing::zeros({dtype, std::move(shape)});
  testing::Random random(3);
  testing::fill_normal(tensor, random);
  return tensor;
}

std::string run(const graph::OpDefinition& op, const ops::PoolingAttributes& attributes,
                const std::vector<Tensor>& inputs) {
  KernelRequest request{.op = &op, .attributes = attributes};
  for (const Tensor& input : inputs) request.inputs.push_back(input.type);
  request.outputs = graph::infer_types(op, request.inputs, request.attributes);
  request.accumulates = {false};
  const auto kernel = backend().kernels(op).front().create(request);
  return testing::run_kernel(*kernel, request, inputs, {testing::zeros(request.outputs[0])})
      .results_bytes[0];
}

// Rows `first` to `first + count` of a tensor.
Tensor rows_of(const Tensor& tensor, int64_t first, int64_t count) {
  const int64_t columns = tensor.type.shape[1];
  const auto begin = tensor.values.begin() + first * columns;
  return {{tensor.type.dtype, {count, columns}}, {begin, begin + count * columns}};
}

std::string row_bytes(const std::string& bytes, int64_t rows, int64_t first, int64_t count) {
  const int64_t each = std::ssize(bytes) / rows;
  return bytes.substr(static_cast<size_t>(first * each), static_cast<size_t>(count * each));
}

void expect_same_bytes_alone(DType dtype) {
  const auto batch = std::ssize(kLengths);
  const int64_t slots = std::accumulate(kLengths.begin(), kLengths.end(), int64_t{5});
  const Tensor x = normal(dtype, {slots, kHidden});
  const Tensor dy = normal(DType::kF32, {batch, 6 * kHidden});
  const Tensor starts = testing::integers({batch + 1}, testing::starts_of(kLengths));
  const std::string y = run(ops::kPoolSequences, kAllModes, {x, starts});
  const std::string dx = run(ops::kPoolSequencesGradient, kAllModes, {dy, x, starts});
  int64_t first = 0;
  for (int64_t b = 0; b < batch; first += kLengths[static_cast<size_t>(b++)]) {
    const int64_t length = kLengths[static_cast<size_t>(b)];
    if (length == 0) continue;
    const Tensor alone = rows_of(x, first, length);
    const Tensor ends = testing::integers({2}, testing::starts_of({length}));
    EXPECT_EQ(run(ops::kPoolSequences, kAllModes, {alone, ends}), row_bytes(y, batch, b, 1)) << b;
    EXPECT_EQ(run(ops::kPoolSequencesGradient, kAllModes, {rows_of(dy, b, 1), alone, ends}),
              row_bytes(dx, slots, first, length))
        << b;
  }
}

TEST(PoolSequences, GivesASequenceTheSameBytesAloneAndInABatch) {
  for_each_target([] {
    for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
      expect_same_bytes_alone(dtype);
    }
  });
}

// Instruction sets without fused products may round a weighted mean differently.
TEST(PoolSequences, GivesTheSameBytesOnEveryInstructionSet) {
  const ops::PoolingAttributes unweighted{
      {PoolingMode::kMean, PoolingMode::kMax, PoolingMode::kMeanSqrtLength, PoolingMode::kLast}};
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    std::vector<std::string> results;
    for_each_target([&] {
      const Tensor starts = testing::integers({2}, {0, 50});
      results.push_back(
          run(ops::kPoolSequences, unweighted, {normal(dtype, {50, kHidden}), starts}));
      EXPECT_EQ(results.back(), results.front());
    });
  }
}

TEST(NormalizeRows, GivesTheSameBytesAloneAndOnEveryInstructionSet) {
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    const Tensor x = normal(dtype, {9, 383});
    std::vector<std::string> results;
    for_each_target([&] {
      results.push_back(run(ops::kNormalizeRows, {}, {x}));
      EXPECT_EQ(results.back(), results.front());
      for (int64_t row = 0; row < 9; ++row) {
        EXPECT_EQ(run(ops::kNormalizeRows, {}, {rows_of(x, row, 1)}),
                  row_bytes(results.back(), 9, row, 1));
      }
    });
  }
}

TEST(PoolSequences, KeepsWhatIsNotANumber) {
  for_each_target([] {
    for (const double row : {0.0, 2.0}) {
      Tensor x = normal(DType::kF32, {4, kHidden});
      x.values[static_cast<size_t>(row) * kHidden] = std::numeric_limits<double>::quiet_NaN();
      const std::string y =
          run(ops::kPoolSequences, {{PoolingMode::kMax}}, {x, testing::integers({2}, {0, 4})});
      const Tensor pooled = testing::read_bytes({DType::kF32, {1, kHidden}}, y.data());
      EXPECT_TRUE(std::isnan(pooled.values[0]));
      EXPECT_FALSE(std::isnan(pooled.values[1]));
    }
  });
}

}  // namespace
}  // namespace cloze::backend::cpu

#include "ops/cross_entropy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backend/cpu/backend.h"
#include "backend/cpu/vector_target_test.h"
#include "backend/testing/run_kernel.h"

namespace cloze::backend::cpu {
namespace {

using testing::floats;
using testing::integers;
using testing::Tensor;

// The loss of one row of two classes, where the label's logit exceeds the other by `ahead`.
double loss_of(double ahead) {
  const std::vector<Tensor> inputs = {floats({1, 2}, {1.0, 1.0 + ahead}), integers({1}, {1}),
                                      floats({1}, {1.0})};
  KernelRequest request{.op = &ops::kCrossEntropy,
                        .outputs = {{DType::kF32, {1}}, {DType::kF32, {1}}},
                        .attributes = ops::CrossEntropyAttributes{}};
  for (const Tensor& input : inputs) request.inputs.push_back(input.type);
  request.accumulates = {false, false};
  const auto kernel = backend().kernels(ops::kCrossEntropy).front().create(request);
  const std::vector<Tensor> none = {testing::zeros(request.outputs[0]),
                                    testing::zeros(request.outputs[1])};
  return testing::run_kernel(*kernel, request, inputs, none).results[0].values[0];
}

TEST(CrossEntropy, OfACertainLabelIsSmallAndNotZero) {
  for_each_target([] {
    for (const double ahead : {-40.0, -1.0, 0.0, 1.0, 16.0, 24.0, 40.0}) {
      const double exact = std::log1p(std::exp(-ahead));
      EXPECT_NEAR(loss_of(ahead), exact, 1e-6 * exact) << ahead;
    }
  });
}

}  // namespace
}  // namespace cloze::backend::cpu

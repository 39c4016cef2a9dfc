#include "ops/elementwise.h"

#include <gtest/gtest.h>

#include "backend/reference/backend.h"
#include "backend/testing/run_kernel.h"

namespace cloze::backend::reference {
namespace {

using testing::floats;
using testing::Tensor;

std::vector<double> run(const KernelRequest& request, const std::vector<Tensor>& inputs,
                        const std::vector<Tensor>& initial_outputs) {
  const auto kernel = backend().kernels(*request.op).front().create(request);
  return testing::run_kernel(*kernel, request, inputs, initial_outputs).results[0].values;
}

TEST(Elementwise, AccumulateAddsToWhatIsThere) {
  const Tensor x = floats({2}, {1.5, 2.0});
  KernelRequest request{
      .op = &ops::kAccumulate, .inputs = {x.type}, .outputs = {x.type}, .accumulates = {true}};
  EXPECT_EQ(run(request, {x}, {floats({2}, {10.0, 20.0})}), (std::vector<double>{11.5, 22.0}));
  request.accumulates = {false};
  EXPECT_EQ(run(request, {x}, {x}), x.values);
}

TEST(ReferenceBackend, SaysWhyItCannotServe) {
  const graph::TensorType f16{DType::kF16, {2}};
  const graph::TensorType bf16{DType::kBF16, {2}};
  const KernelRequest request{.op = &ops::kAdd, .inputs = {f16, bf16}, .outputs = {f16}};
  EXPECT_EQ(backend().kernels(ops::kAdd).front().refuse(request),
            "serves f32, bf16 or f16 beside f32, or f64 throughout");
}

}  // namespace
}  // namespace cloze::backend::reference

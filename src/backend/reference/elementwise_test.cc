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

TEST(Elementwise, CastRoundsToNearestEven) {
  const Tensor x = floats({3}, {1.0 + 0x1p-8, 1.0 + 3 * 0x1p-8, -2.5});
  const KernelRequest request{.op = &ops::kCast,
                              .inputs = {x.type},
                              .outputs = {{DType::kBF16, {3}}},
                              .attributes = ops::CastAttributes{DType::kBF16}};
  EXPECT_EQ(run(request, {x}, {}), (std::vector<double>{1.0, 1.0 + 0x1p-6, -2.5}));
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
  const graph::TensorType half{DType::kF16, {2}};
  const KernelRequest request{.op = &ops::kAdd, .inputs = {half, half}, .outputs = {half}};
  EXPECT_EQ(backend().kernels(ops::kAdd).front().refuse(request),
            "serves f32, bf16 beside f32, or f64 throughout");
}

}  // namespace
}  // namespace cloze::backend::reference

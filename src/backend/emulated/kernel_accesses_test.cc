// How the accesses of the kernels for GPUs come together on a card, counted by the emulation: the
// sectors of global memory beside the fewest that could hold the bytes, and the passes over the
// banks of shared memory for each access. What is above 1 is what a faster
// kernel can gain; below 1 many lanes load one address.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backend/emulated/emulated_device.h"
#include "backend/gpu/emulation/access_counts.h"
#include "backend/testing/kernel_case.h"
#include "backend/testing/run_kernel.h"
#include "ops/attention.h"
#include "ops/cross_entropy.h"
#include "ops/dropout.h"
#include "ops/dropout_add_layer_norm.h"
#include "ops/embedding.h"
#include "ops/gather_rows.h"
#include "ops/gelu.h"
#include "ops/layer_norm.h"
#include "ops/linear.h"
#include "ops/optimizer_update.h"
#include "ops/packed_linear.h"
#include "ops/vocabulary_loss.h"

namespace cloze::backend::emulated {
namespace {

// Of one operator, on the largest of its cases in bf16.
struct Row {
  const graph::OpDefinition& op;
  double loads = 0.0, stores = 0.0;  // sectors, beside the fewest
  double passes = 0.0;               // for each access; 0: no shared memory
};

const Row kRows[] = {
    {ops::kGelu, 1.0, 1.0},
    {ops::kGeluGradient, 1.0, 1.0},
    {ops::kDropout, 1.0, 1.0},
    {ops::kLayerNorm, 1.33, 1.44},
    {ops::kLayerNormGradient, 0.75, 1.0, 1.0},
    {ops::kDropoutAddLayerNorm, 1.45, 1.48},
    {ops::kDropoutAddLayerNormGradient, 0.77, 1.0, 1.0},
    {ops::kEmbedding, 0.62, 1.0},
    {ops::kEmbeddingGradient, 0.81, 1.0, 1.0},
    {ops::kGatherRows, 0.5, 1.0},
    {ops::kScatterRows, 1.14, 1.31, 1.0},
    {ops::kAttention, 0.89, 2.93, 1.0},
    {ops::kAttentionGradient, 0.98, 1.81, 1.0},
    {ops::kAdamW, 0.67, 1.0, 1.0},
    {ops::kLamb, 0.63, 1.0, 1.0},
    // But for the products.
    {ops::kLinear, 0.94, 1.0},
    {ops::kPackWeight, 1.0, 1.0},
    {ops::kVocabularyLossWithGradient, 0.98, 1.07, 1.0},
};

int64_t elements_of(const testing::KernelCase& one) {
  int64_t elements = 0;
  for (const graph::TensorType& type : one.inputs) elements += type.shape.elements();
  return elements;
}

testing::KernelCase largest_case(const graph::OpDefinition& op) {
  testing::KernelCase largest;
  for (testing::KernelCase& one : testing::kernel_cases(DType::kBF16)) {
    if (one.op == &op && elements_of(one) > elements_of(largest)) largest = std::move(one);
  }
  return largest;
}

gpu::emulation::AccessTotals accesses_of(const testing::KernelCase& one) {
  const KernelRequest request = request_of(one);
  std::vector<testing::Tensor> outputs;
  for (const graph::TensorType& type : request.outputs) outputs.push_back(testing::zeros(type));
  const auto kernel = own_kernels(*one.op).front().create(request);
  gpu::emulation::AccessCounts counts;
  gpu::emulation::count_accesses(&counts);
  testing::run_kernel(*kernel, request, make_inputs(one), outputs);
  gpu::emulation::count_accesses(nullptr);
  return counts.totals();
}

double ratio(int64_t a, int64_t b) {
  return b == 0 ? 0.0 : static_cast<double>(a) / static_cast<double>(b);
}

TEST(KernelAccesses, ComeTogetherAsWritten) {
  for (const Row& row : kRows) {
    const testing::KernelCase one = largest_case(row.op);
    SCOPED_TRACE(describe(one));
    const gpu::emulation::AccessTotals totals = accesses_of(one);
    EXPECT_NEAR(ratio(totals.load_sectors, totals.least_load_sectors), row.loads, 0.01);
    EXPECT_NEAR(ratio(totals.store_sectors, totals.least_store_sectors), row.stores, 0.01);
    EXPECT_NEAR(ratio(totals.shared_passes, totals.shared_accesses), row.passes, 0.01);
  }
}

}  // namespace
}  // namespace cloze::backend::emulated

// Every vector kernel against the reference, on each instruction set of this machine.
#include "backend/cpu/backend.h"
#include "backend/cpu/vector_target_test.h"
#include "backend/testing/check_kernel.h"
#include "ops/cross_entropy.h"
#include "ops/dropout.h"
#include "ops/dropout_add_layer_norm.h"
#include "ops/elementwise.h"
#include "ops/embedding.h"
#include "ops/gather_rows.h"
#include "ops/gelu.h"
#include "ops/layer_norm.h"
#include "ops/optimizer_update.h"
#include "ops/tanh.h"

namespace cloze::backend::cpu {
namespace {

class VectorKernels : public ::testing::TestWithParam<const graph::OpDefinition*> {};

TEST_P(VectorKernels, AgreeWithTheReference) {
  for_each_target([] { EXPECT_EQ(testing::check_operator(backend(), *GetParam()), ""); });
}

// The best kernel of each operator is one of this folder, not the reference.
TEST_P(VectorKernels, ComeFirst) {
  EXPECT_EQ(backend().kernels(*GetParam())[0].name.substr(0, 4), "cpu/");
}

INSTANTIATE_TEST_SUITE_P(Operators, VectorKernels,
                         ::testing::Values(&ops::kAccumulate, &ops::kAdamW, &ops::kAdd,
                                           &ops::kCrossEntropy, &ops::kCrossEntropyGradient,
                                           &ops::kDropout, &ops::kDropoutAddLayerNorm,
                                           &ops::kDropoutAddLayerNormGradient, &ops::kEmbedding,
                                           &ops::kEmbeddingGradient, &ops::kGatherRows, &ops::kGelu,
                                           &ops::kGeluGradient, &ops::kGlobalNorm,
                                           &ops::kGradientScale, &ops::kLamb, &ops::kLayerNorm,
                                           &ops::kLayerNormGradient, &ops::kScatterRows,
                                           &ops::kTanh, &ops::kTanhGradient),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace cloze::backend::cpu

// linear, attention, vocabulary_loss and their gradients against the reference, on each instruction
// set of this machine.
#include "backend/cpu/backend.h"
#include "backend/cpu/vector_target_test.h"
#include "backend/testing/check_kernel.h"
#include "ops/attention.h"
#include "ops/linear.h"
#include "ops/vocabulary_loss.h"

namespace cloze::backend::cpu {
namespace {

class ProductKernels : public ::testing::TestWithParam<const graph::OpDefinition*> {};

TEST_P(ProductKernels, AgreeWithTheReference) {
  for_each_target([] { EXPECT_EQ(testing::check_operator(backend(), *GetParam()), ""); });
}

// The best kernel of each operator is one of this folder, not the reference.
TEST_P(ProductKernels, ComeFirst) {
  EXPECT_EQ(backend().kernels(*GetParam())[0].name.substr(0, 4), "cpu/");
}

INSTANTIATE_TEST_SUITE_P(
    Operators, ProductKernels,
    ::testing::Values(&ops::kAttention, &ops::kAttentionGradient, &ops::kLinear,
                      &ops::kLinearInputGradient, &ops::kLinearWeightGradient,
                      &ops::kVocabularyLoss, &ops::kVocabularyLossGradient,
                      &ops::kVocabularyLossWithGradient),
    [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace cloze::backend::cpu

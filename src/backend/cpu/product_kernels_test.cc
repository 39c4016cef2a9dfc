// linear, attention, vocabulary_loss and their gradients against the reference, on each instruction
// set of this machine.
#include <fmt/format.h>

#include "backend/cpu/backend.h"
#include "backend/cpu/kernels.h"
#include "backend/cpu/part_kernel.h"
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

// The kernels for bf16 units, made to serve f32, which oneDNN multiplies everywhere: what is around
// the products is checked on machines without such units too.
TEST(NativeLinear, AgreesWithTheReferenceInF32) {
  for (const KernelEntry* native :
       {&kNativeLinearEntry, &kNativeLinearInputGradientEntry, &kNativeLinearWeightGradientEntry}) {
    KernelEntry entry = *native;
    entry.refuse = serve_all;
    for (const testing::KernelCase& one : testing::linear_cases(DType::kF32)) {
      const std::string op = fmt::format("cpu/{}/", one.op->name);
      if (!entry.name.starts_with(op)) continue;
      const testing::CaseReport report = testing::run_case(entry, one);
      EXPECT_EQ(fmt::format("{}", fmt::join(report.failures, "\n")), "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, ProductKernels,
                         ::testing::Values(&ops::kAttention, &ops::kAttentionGradient,
                                           &ops::kLinear, &ops::kLinearInputGradient,
                                           &ops::kLinearWeightGradient, &ops::kVocabularyLoss,
                                           &ops::kVocabularyLossGradient,
                                           &ops::kVocabularyLossWithGradient),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace cloze::backend::cpu

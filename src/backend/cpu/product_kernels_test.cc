// linear, attention, vocabulary_loss and their gradients against the reference, on each instruction
// set of this machine.
#include <fmt/format.h>

#include "backend/cpu/backend.h"
#include "backend/cpu/kernels.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/vector_target_test.h"
#include "backend/testing/case_inputs.h"
#include "backend/testing/check_kernel.h"
#include "ops/attention.h"
#include "ops/linear.h"
#include "ops/packed_linear.h"
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

TEST(NativePackedLinear, AgreesWithTheReferenceInF32) {
  KernelEntry entry = kNativePackedLinearEntry;
  entry.refuse = serve_all;
  int cases = 0;
  for (const testing::KernelCase& one : testing::packed_linear_cases(DType::kF32)) {
    if (one.op != &ops::kPackedLinear) continue;
    if (ops::layout_of(one.inputs[ops::PackedLinear::kPacked].shape) != ops::WeightLayout::kPairs)
      continue;
    const testing::CaseReport report = testing::run_case(entry, one);
    EXPECT_EQ(fmt::format("{}", fmt::join(report.failures, "\n")), "");
    ++cases;
  }
  EXPECT_GT(cases, 0);
}

// By loops where the processor has no units for it.
TEST(NativeAttention, AgreesWithTheReference) {
  KernelEntry entry = kNativeAttentionEntry;
  entry.refuse = serve_all;
  for (const testing::KernelCase& one : testing::attention_cases(DType::kBF16)) {
    if (one.op != &ops::kAttention) continue;
    for_each_target([&] {
      const testing::CaseReport report = testing::run_case(entry, one);
      EXPECT_EQ(fmt::format("{}", fmt::join(report.failures, "\n")), "");
    });
  }
}

// Predictions across several blocks and their last ones unused, or none used at all.
testing::KernelCase vocabulary_case(int64_t predictions, int64_t used, DType dtype) {
  constexpr int64_t kVocabulary = 200;
  constexpr int64_t kHidden = 4;
  const graph::TensorType scalar{DType::kF32, {1}};
  testing::KernelCase one{.name = fmt::format("{} of {} predictions used", used, predictions),
                          .op = &ops::kVocabularyLossWithGradient,
                          .inputs = {scalar,
                                     {dtype, {predictions, kHidden}},
                                     {DType::kF32, {kVocabulary, kHidden}},
                                     {DType::kI32, {predictions}},
                                     scalar,
                                     {DType::kF32, {kVocabulary}}},
                          .summed_terms = predictions,
                          .through_storage = {ops::VocabularyLossWithGradient::kDx,
                                              ops::VocabularyLossWithGradient::kDtable,
                                              ops::VocabularyLossWithGradient::kDbias}};
  one.prepare = [=](std::vector<testing::Tensor>& inputs, testing::Random& random) {
    using Op = ops::VocabularyLossWithGradient;
    inputs[Op::kDloss].values = {0.75};
    inputs[Op::kNormalizer].values = {1.0 / static_cast<double>(predictions)};
    // Two words of different chunks are likely, so that some predictions are right; but not as
    // likely as they are labels, or nothing but rounding would be left of the gradient of their
    // bias.
    inputs[Op::kBias].values[5] = 5.0;
    inputs[Op::kBias].values[150] = 7.0;
    for (int64_t i = 0; i < predictions; ++i) {
      const int64_t label = i % 2 == 0 ? 5 + i % 3 / 2 * 145 : random.below(kVocabulary);
      const bool is_ignored = i >= used || i % 50 == 7;
      inputs[Op::kLabels].values[i] = is_ignored ? -1.0 : static_cast<double>(label);
    }
  };
  if (used == 0) one.why_zeros = "no prediction is used";
  return one;
}

TEST(VocabularyLoss, AgreesAcrossBlocks) {
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    for (const int64_t used : {300, 257, 0}) {
      const testing::CaseReport report =
          testing::run_case(kVocabularyLossWithGradientEntry, vocabulary_case(300, used, dtype));
      EXPECT_EQ(fmt::format("{}", fmt::join(report.failures, "\n")), "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, ProductKernels,
                         ::testing::Values(&ops::kAttention, &ops::kAttentionGradient,
                                           &ops::kLinear, &ops::kLinearInputGradient,
                                           &ops::kLinearWeightGradient, &ops::kPackWeight,
                                           &ops::kPackedLinear, &ops::kVocabularyLoss,
                                           &ops::kVocabularyLossGradient,
                                           &ops::kVocabularyLossWithGradient),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace cloze::backend::cpu

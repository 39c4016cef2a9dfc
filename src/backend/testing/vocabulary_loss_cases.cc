// Each label is clearly right or clearly wrong: `correct` jumps where two logits are equal.
#include "ops/vocabulary_loss.h"

#include <algorithm>
#include <cmath>

#include "backend/testing/case_inputs.h"
#include "backend/testing/kernel_case.h"
#include "backend/testing/kernel_sweep.h"
#include "backend/testing/run_kernel.h"
#include "ops/linear.h"

namespace cloze::backend::testing {
namespace {

using graph::kScalar;

struct HeadSizes {
  int64_t predictions, hidden, vocabulary;
};

constexpr HeadSizes kHeadSizes[] = {{1, 1, 2}, {5, 13, 31}, {20, 64, 129}, {35, 24, 331}};

// The inputs of the loss from `first` on; logits are of the order of 1. Labels are computed with
// the table rounded to the dtype of x, as kernels see it.
void fill_head(std::vector<Tensor>& inputs, size_t first, Random& random) {
  using Loss = ops::VocabularyLoss;
  const Tensor& x = inputs[first + Loss::kX];
  Tensor& table = inputs[first + Loss::kTable];
  fill_normal(table, random, 2.0 / std::sqrt(static_cast<double>(x.type.shape[1])));
  round_values(table, x.type.dtype);
  std::vector<Tensor> product{x, table};
  if (inputs.size() > first + Loss::kBias) product.push_back(inputs[first + Loss::kBias]);
  const Tensor logits = apply_in_double(ops::kLinear, ops::LinearAttributes{}, product)[0];
  fill_labels(inputs[first + Loss::kLabels], logits, random);
  for (double& normalizer : inputs[first + Loss::kNormalizer].values) {
    normalizer = random.uniform(0.5, 1.5) / static_cast<double>(x.type.shape[0]);
  }
}

struct LossOperator {
  const graph::OpDefinition* op;
  bool has_dloss;
  std::vector<size_t> through_storage;
};

struct Variant {
  const char* name;
  bool has_bias = false;
  bool has_normalizers = false;  // one for each prediction
};
constexpr Variant kVariants[] = {
    {"no bias"}, {"bias", true}, {"a normalizer for each", true, true}};

KernelCase loss_case(const LossOperator& which, const HeadSizes& sizes, const Variant& variant,
                     DType dtype) {
  KernelCase one{.name = variant.name,
                 .op = which.op,
                 .inputs = {{dtype, {sizes.predictions, sizes.hidden}},
                            {DType::kF32, {sizes.vocabulary, sizes.hidden}},
                            {DType::kI32, {sizes.predictions}},
                            {DType::kF32, {variant.has_normalizers ? sizes.predictions : 1}}},
                 .summed_terms = std::max({sizes.predictions, sizes.hidden, sizes.vocabulary})};
  if (variant.has_bias) one.inputs.push_back({DType::kF32, {sizes.vocabulary}});
  if (which.has_dloss) one.inputs.insert(one.inputs.begin(), kScalar);
  for (const size_t result : which.through_storage) {
    if (result < request_of(one).outputs.size()) one.through_storage.push_back(result);
  }
  one.prepare = [has_dloss = which.has_dloss](std::vector<Tensor>& inputs, Random& random) {
    if (has_dloss) inputs[ops::VocabularyLossGradient::kDloss].values = {0.75};
    fill_head(inputs, has_dloss ? ops::VocabularyLossGradient::kX : 0, random);
  };
  return one;
}

void add_cases(std::vector<KernelCase>& cases, const HeadSizes& sizes, DType dtype) {
  using Gradient = ops::VocabularyLossGradient;
  using Both = ops::VocabularyLossWithGradient;
  const LossOperator operators[] = {
      {&ops::kVocabularyLoss, false, {}},
      {&ops::kVocabularyLossGradient, true, {Gradient::kDx, Gradient::kDtable, Gradient::kDbias}},
      {&ops::kVocabularyLossWithGradient, true, {Both::kDx, Both::kDtable, Both::kDbias}}};
  for (const LossOperator& which : operators) {
    for (const Variant& variant : kVariants) {
      cases.push_back(loss_case(which, sizes, variant, dtype));
    }
  }
}

}  // namespace

std::vector<KernelCase> vocabulary_loss_cases(DType dtype) {
  std::vector<KernelCase> cases;
  for (const HeadSizes& sizes : kHeadSizes) add_cases(cases, sizes, dtype);
  return cases;
}

std::vector<KernelCase> vocabulary_loss_sweep(DType dtype, const SweepExtents& extents) {
  std::vector<HeadSizes> sizes;
  for (const int64_t predictions : extents.up_to(kSweptRows, {16, 32, 256})) {
    sizes.push_back({predictions, 5, 37});
  }
  for (const int64_t hidden : extents.up_to(kSweptDepth, {16, 32, 256, 512})) {
    sizes.push_back({7, hidden, 20});
  }
  for (const int64_t words : extents.up_to(kSweptVocabulary, {96})) {
    if (words > 1) sizes.push_back({9, 5, words});
  }
  for (const int64_t words : SweepExtents::around(kSweptSlicedWords, {3072})) {
    sizes.push_back({9, 5, words});
  }
  for (const int64_t predictions : SweepExtents::around(kSweptChunkedRows, {2048})) {
    if (!extents.is_thin()) sizes.push_back({predictions, 2, 3});
  }
  SweepCases sweep;
  sweep.add_each(sizes, [&](auto& family, const HeadSizes& one) { add_cases(family, one, dtype); });
  return sweep.take();
}

}  // namespace cloze::backend::testing

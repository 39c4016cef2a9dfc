// Cases of vocabulary_loss, cross_entropy, span_loss and squared_error. Each label is clearly right
// or clearly wrong: `correct` jumps where two logits are equal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "backend/testing/case_inputs.h"
#include "backend/testing/kernel_case.h"
#include "backend/testing/kernel_sweep.h"
#include "backend/testing/run_kernel.h"
#include "ops/cross_entropy.h"
#include "ops/linear.h"
#include "ops/span_loss.h"
#include "ops/squared_error.h"
#include "ops/vocabulary_loss.h"

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

struct VocabularyOperator {
  const graph::OpDefinition* op;
  bool has_dloss;
  std::vector<size_t> through_storage;
};

struct VocabularyVariant {
  const char* name;
  bool has_bias = false;
  bool has_normalizers = false;  // one for each prediction
};
constexpr VocabularyVariant kVocabularyVariants[] = {
    {"no bias"}, {"bias", true}, {"a normalizer for each", true, true}};

KernelCase vocabulary_case(const VocabularyOperator& which, const HeadSizes& sizes,
                           const VocabularyVariant& variant, DType dtype) {
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

void add_vocabulary_cases(std::vector<KernelCase>& cases, const HeadSizes& sizes, DType dtype) {
  using Gradient = ops::VocabularyLossGradient;
  using Both = ops::VocabularyLossWithGradient;
  const VocabularyOperator operators[] = {
      {&ops::kVocabularyLoss, false, {}},
      {&ops::kVocabularyLossGradient, true, {Gradient::kDx, Gradient::kDtable, Gradient::kDbias}},
      {&ops::kVocabularyLossWithGradient, true, {Both::kDx, Both::kDtable, Both::kDbias}}};
  for (const VocabularyOperator& which : operators) {
    for (const VocabularyVariant& variant : kVocabularyVariants) {
      cases.push_back(vocabulary_case(which, sizes, variant, dtype));
    }
  }
}

// A case of a loss and one of its gradient, which reads dloss and then the same inputs. Of the
// gradient only what differs is given. fill(inputs, first, random) fills the inputs of the loss
// from `first` on.
template <class Fill>
void add_loss_and_gradient(std::vector<KernelCase>& cases, KernelCase loss, KernelCase gradient,
                           const Fill& fill) {
  loss.prepare = [fill](auto& inputs, Random& random) { fill(inputs, 0, random); };
  gradient.name = loss.name;
  gradient.inputs = loss.inputs;
  gradient.inputs.insert(gradient.inputs.begin(), kScalar);
  gradient.prepare = [fill](auto& inputs, Random& random) {
    inputs[0].values = {0.75};
    fill(inputs, 1, random);
  };
  cases.push_back(std::move(loss));
  cases.push_back(std::move(gradient));
}

void add_cross_entropy_cases(std::vector<KernelCase>& cases, const Shape& shape, DType dtype) {
  const double normalizer = 1.0 / static_cast<double>(shape[0]);
  add_loss_and_gradient(cases,
                        {.name = "labels and one ignored",
                         .op = &ops::kCrossEntropy,
                         .inputs = {{dtype, shape}, {DType::kI32, {shape[0]}}, kScalar},
                         .summed_terms = std::max(shape[0], shape[1])},
                        {.op = &ops::kCrossEntropyGradient, .summed_terms = shape[1]},
                        [normalizer](std::vector<Tensor>& in, size_t first, Random& random) {
                          using Op = ops::CrossEntropy;
                          fill_labels(in[first + Op::kLabels], in[first + Op::kLogits], random);
                          in[first + Op::kNormalizer].values = {normalizer};
                        });
}

// Slots of the largest logit of a side in every second sequence, the last slot in the others; the
// last sequence is ignored when there are several.
void fill_positions(Tensor& positions, const Tensor& logits, const std::vector<double>& starts,
                    int64_t side) {
  const auto sequences = static_cast<int64_t>(positions.values.size());
  for (int64_t b = 0; b < sequences; ++b) {
    const auto first = static_cast<int64_t>(starts[b]);
    auto slot = static_cast<int64_t>(starts[b + 1]) - 1;
    for (int64_t t = first; b % 2 == 0 && t < static_cast<int64_t>(starts[b + 1]); ++t) {
      if (logits.values[2 * t + side] > logits.values[2 * slot + side]) slot = t;
    }
    positions.values[b] = static_cast<double>(slot);
  }
  if (sequences > 2) positions.values.back() = -1.0;
}

struct SpanSizes {
  std::vector<int64_t> lengths;
  int64_t tokens = 0;
  bool has_halves = false;  // the first two sequences lack one position
};

void add_span_loss_cases(std::vector<KernelCase>& cases, const SpanSizes& sizes, DType dtype) {
  const auto sequences = static_cast<int64_t>(sizes.lengths.size());
  const graph::TensorType positions{DType::kI32, {sequences}};
  add_loss_and_gradient(
      cases,
      {.name = sizes.has_halves ? "one position of two" : "positions and unused slots",
       .op = &ops::kSpanLoss,
       .inputs = {{dtype, {sizes.tokens, 2}},
                  {DType::kI32, {sequences + 1}},
                  positions,
                  positions,
                  kScalar},
       .summed_terms = sizes.tokens},
      {.op = &ops::kSpanLossGradient,
       .summed_terms = sizes.tokens,
       .why_zeros = "slots of no sequence, or of one that is ignored"},
      [sizes](std::vector<Tensor>& in, size_t first, Random&) {
        using Op = ops::SpanLoss;
        const std::vector<double> starts = starts_of(sizes.lengths);
        in[first + Op::kSequenceStarts].values = starts;
        for (int64_t side = 0; side < 2; ++side) {
          fill_positions(in[first + Op::kStartPositions + side], in[first + Op::kLogits], starts,
                         side);
          if (sizes.has_halves) in[first + Op::kStartPositions + side].values[side] = -1.0;
        }
        in[first + Op::kNormalizer].values = {1.0 / static_cast<double>(sizes.lengths.size())};
      });
}

void add_squared_error_cases(std::vector<KernelCase>& cases, int64_t sequences, DType dtype) {
  add_loss_and_gradient(
      cases,
      {.name = "targets and one ignored",
       .op = &ops::kSquaredError,
       .inputs = {{dtype, {sequences, 1}}, {DType::kF32, {sequences}}, kScalar},
       .summed_terms = sequences},
      {.op = &ops::kSquaredErrorGradient},
      [sequences](std::vector<Tensor>& in, size_t first, Random&) {
        using Op = ops::SquaredError;
        if (sequences > 1) in[first + Op::kTargets].values.back() = std::nan("");
        in[first + Op::kNormalizer].values = {1.0 / static_cast<double>(sequences)};
      });
}

}  // namespace

std::vector<KernelCase> loss_cases(DType dtype) {
  std::vector<KernelCase> cases;
  for (const HeadSizes& sizes : kHeadSizes) add_vocabulary_cases(cases, sizes, dtype);
  add_span_loss_cases(cases, {{4}, 4}, dtype);
  add_span_loss_cases(cases, {{7, 3, 12, 5}, 30}, dtype);
  add_span_loss_cases(cases, {{7, 3, 12, 5}, 30, /*has_halves=*/true}, dtype);
  add_squared_error_cases(cases, 1, dtype);
  add_squared_error_cases(cases, 6, dtype);
  for (const Shape& shape : {Shape{1, 2}, Shape{7, 3}, Shape{64, 2}, Shape{5, 33}}) {
    add_cross_entropy_cases(cases, shape, dtype);
  }
  return cases;
}

std::vector<KernelCase> loss_sweep(DType dtype, const SweepExtents& extents) {
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
  SweepCases sweep;
  sweep.add_each(
      sizes, [&](auto& family, const HeadSizes& one) { add_vocabulary_cases(family, one, dtype); });
  sweep.add_each(sizes, [&](auto& family, const HeadSizes& one) {
    add_cross_entropy_cases(family, {one.predictions, 1 + one.hidden}, dtype);
    add_span_loss_cases(
        family, {{one.predictions, one.vocabulary}, one.predictions + one.vocabulary + 2}, dtype);
    add_squared_error_cases(family, one.predictions, dtype);
  });
  return sweep.take();
}

}  // namespace cloze::backend::testing

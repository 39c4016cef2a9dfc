// Cases of vocabulary_loss and cross_entropy. Labels have a clear winner to be right or wrong
// about: `correct` jumps where two logits are equal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "backend/testing/case_inputs.h"
#include "backend/testing/kernel_case.h"
#include "backend/testing/run_kernel.h"
#include "ops/cross_entropy.h"
#include "ops/linear.h"
#include "ops/vocabulary_loss.h"

namespace cloze::backend::testing {
namespace {

const graph::TensorType kScalar{DType::kF32, {1}};

struct HeadSizes {
  int64_t predictions, hidden, vocabulary;
};

constexpr HeadSizes kHeadSizes[] = {{1, 1, 2}, {5, 13, 31}, {20, 64, 129}, {35, 24, 331}};

// x, table, labels, normalizer (, bias) from input `first`; logits are of the order of 1.
void fill_head(std::vector<Tensor>& inputs, size_t first, Random& random) {
  const double hidden = static_cast<double>(inputs[first].type.shape[1]);
  fill_normal(inputs[first + 1], random, 2.0 / std::sqrt(hidden));
  std::vector<Tensor> product{inputs[first], inputs[first + 1]};
  if (inputs.size() > first + 4) product.push_back(inputs[first + 4]);
  const Tensor logits = apply_in_double(ops::kLinear, ops::LinearAttributes{}, product)[0];
  fill_labels(inputs[first + 2], logits, random);
  inputs[first + 3].values = {1.0 / static_cast<double>(inputs[first].type.shape[0])};
}

struct VocabularyOperator {
  const graph::OpDefinition* op;
  bool has_dloss;
  std::vector<size_t> through_storage;
};

KernelCase vocabulary_case(const VocabularyOperator& which, const HeadSizes& sizes, bool has_bias,
                           DType dtype) {
  KernelCase one{.name = has_bias ? "bias" : "no bias",
                 .op = which.op,
                 .inputs = {{dtype, {sizes.predictions, sizes.hidden}},
                            {dtype, {sizes.vocabulary, sizes.hidden}},
                            {DType::kI32, {sizes.predictions}},
                            kScalar},
                 .summed_terms = std::max({sizes.predictions, sizes.hidden, sizes.vocabulary})};
  if (has_bias) one.inputs.push_back({DType::kF32, {sizes.vocabulary}});
  if (which.has_dloss) one.inputs.insert(one.inputs.begin(), kScalar);
  for (const size_t result : which.through_storage) {
    if (result < request_of(one).outputs.size()) one.through_storage.push_back(result);
  }
  one.prepare = [has_dloss = which.has_dloss](std::vector<Tensor>& inputs, Random& random) {
    if (has_dloss) inputs[0].values = {0.75};
    fill_head(inputs, has_dloss ? 1 : 0, random);
  };
  return one;
}

void add_vocabulary_cases(std::vector<KernelCase>& cases, DType dtype) {
  const VocabularyOperator operators[] = {{&ops::kVocabularyLoss, false, {}},
                                          {&ops::kVocabularyLossGradient, true, {0, 1, 2}},
                                          {&ops::kVocabularyLossWithGradient, true, {2, 3, 4}}};
  for (const HeadSizes& sizes : kHeadSizes) {
    for (const VocabularyOperator& which : operators) {
      for (const bool has_bias : {false, true}) {
        cases.push_back(vocabulary_case(which, sizes, has_bias, dtype));
      }
    }
  }
}

void add_cross_entropy_cases(std::vector<KernelCase>& cases, const Shape& shape, DType dtype) {
  const graph::TensorType logits{dtype, shape};
  const graph::TensorType labels{DType::kI32, {shape[0]}};
  const double normalizer = 1.0 / static_cast<double>(shape[0]);
  cases.push_back({.name = "labels and one ignored",
                   .op = &ops::kCrossEntropy,
                   .inputs = {logits, labels, kScalar},
                   .prepare =
                       [normalizer](auto& inputs, Random& random) {
                         fill_labels(inputs[1], inputs[0], random);
                         inputs[2].values = {normalizer};
                       },
                   .summed_terms = std::max(shape[0], shape[1])});
  cases.push_back({.name = "labels and one ignored",
                   .op = &ops::kCrossEntropyGradient,
                   .inputs = {kScalar, logits, labels, kScalar},
                   .prepare =
                       [normalizer](auto& inputs, Random& random) {
                         inputs[0].values = {0.75};
                         fill_labels(inputs[2], inputs[1], random);
                         inputs[3].values = {normalizer};
                       },
                   .summed_terms = shape[1]});
}

}  // namespace

std::vector<KernelCase> loss_cases(DType dtype) {
  std::vector<KernelCase> cases;
  add_vocabulary_cases(cases, dtype);
  for (const Shape& shape : {Shape{1, 2}, Shape{7, 3}, Shape{64, 2}, Shape{5, 33}}) {
    add_cross_entropy_cases(cases, shape, dtype);
  }
  return cases;
}

}  // namespace cloze::backend::testing

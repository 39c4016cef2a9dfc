#include "ops/cross_entropy.h"

#include <numeric>
#include <vector>

#include "backend/reference/kernels.h"
#include "backend/reference/softmax_row.h"

namespace cloze::backend::reference {
namespace {

CLOZE_REFERENCE_KERNEL(CrossEntropy, CrossEntropy);
CLOZE_REFERENCE_KERNEL(CrossEntropyGradient, CrossEntropyGradient);

// t[b] of a row with this label.
template <typename X, typename Names>
std::vector<double> targets_of(const Call& call, int32_t label) {
  const double smoothing = call.attributes<ops::CrossEntropyAttributes>().label_smoothing;
  const int64_t classes = call.input_shape(Names::kLogits)[1];
  std::vector<double> targets(static_cast<size_t>(classes),
                              smoothing / static_cast<double>(classes));
  targets[static_cast<size_t>(label)] += 1.0 - smoothing;
  if (!call.has_input(Names::kClassWeights)) return targets;
  const auto weights = call.read<Parameter<X>>(Names::kClassWeights);
  for (int64_t c = 0; c < classes; ++c) targets[static_cast<size_t>(c)] *= weights[c];
  return targets;
}

}  // namespace

template <typename X>
void CrossEntropy::run(const Call& call) {
  using P = Parameter<X>;
  const Reader<X> logits = call.read<X>(kLogits);
  const int32_t* labels = call.integers(kLabels);
  const double normalizer = call.read<P>(kNormalizer)[0];
  double loss = 0.0;
  double correct = 0.0;
  for (int64_t b = 0; b < call.input_shape(kLogits)[0]; ++b) {
    if (labels[b] < 0) continue;
    const SoftmaxRow row =
        softmax_row(call.input_shape(kLogits)[1], [&](int64_t c) { return logits(b, c); });
    const std::vector<double> targets = targets_of<X, ops::CrossEntropy>(call, labels[b]);
    for (int64_t c = 0; c < std::ssize(targets); ++c) {
      const double target = targets[static_cast<size_t>(c)];
      if (target > 0.0) loss += target * (row.log_sum_exp - logits(b, c));
    }
    if (row.first_largest == labels[b]) correct += 1.0;
  }
  call.write<P>(kLoss).put(0, normalizer * loss);
  call.write<P>(kCorrect).put(0, correct);
}

template <typename X>
void CrossEntropyGradient::run(const Call& call) {
  using P = Parameter<X>;
  const Reader<X> logits = call.read<X>(kLogits);
  const int32_t* labels = call.integers(kLabels);
  const double scale = call.read<P>(kDloss)[0] * call.read<P>(kNormalizer)[0];
  const Writer<X> dlogits = call.write<X>(kDlogits);
  const int64_t classes = call.input_shape(kLogits)[1];
  for (int64_t b = 0; b < call.input_shape(kLogits)[0]; ++b) {
    if (labels[b] < 0) {
      for (int64_t c = 0; c < classes; ++c) dlogits.put(b, c, 0.0);
      continue;
    }
    const SoftmaxRow row = softmax_row(classes, [&](int64_t c) { return logits(b, c); });
    const auto targets = targets_of<X, ops::CrossEntropyGradient>(call, labels[b]);
    const double total = std::accumulate(targets.begin(), targets.end(), 0.0);
    for (int64_t c = 0; c < classes; ++c) {
      const double probability = std::exp(logits(b, c) - row.log_sum_exp);
      dlogits.put(b, c, scale * (total * probability - targets[static_cast<size_t>(c)]));
    }
  }
}

KernelTable cross_entropy_kernels() { return table_of<CrossEntropy, CrossEntropyGradient>(); }

}  // namespace cloze::backend::reference

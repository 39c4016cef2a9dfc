#include "ops/binary_cross_entropy.h"

#include <algorithm>
#include <cmath>

#include "backend/reference/kernels.h"

namespace cloze::backend::reference {
namespace {

CLOZE_REFERENCE_KERNEL(BinaryCrossEntropy, BinaryCrossEntropy);
CLOZE_REFERENCE_KERNEL(BinaryCrossEntropyGradient, BinaryCrossEntropyGradient);

}  // namespace

template <typename X>
void BinaryCrossEntropy::run(const Call& call) {
  using P = Parameter<X>;
  const Reader<X> logits = call.read<X>(kLogits);
  const int32_t* labels = call.integers(kLabels);
  double loss = 0.0;
  double correct = 0.0;
  for (int64_t p = 0; p < call.input_shape(kLabels)[0]; ++p) {
    if (labels[p] < 0) continue;
    const double x = logits[p];
    loss += std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))) - labels[p] * x;
    if ((x > 0.0) == (labels[p] == 1)) correct += 1.0;
  }
  call.write<P>(kLoss).put(0, call.read<P>(kNormalizer)[0] * loss);
  call.write<P>(kCorrect).put(0, correct);
}

template <typename X>
void BinaryCrossEntropyGradient::run(const Call& call) {
  using P = Parameter<X>;
  const Reader<X> logits = call.read<X>(kLogits);
  const int32_t* labels = call.integers(kLabels);
  const int64_t num_labels = call.input_shape(kLabels)[0];
  const double scale = call.read<P>(kDloss)[0] * call.read<P>(kNormalizer)[0];
  const Writer<X> dlogits = call.write<X>(kDlogits);
  for (int64_t p = 0; p < call.input_shape(kLogits).elements(); ++p) {
    const bool is_labelled = p < num_labels && labels[p] >= 0;
    const double probability = 1.0 / (1.0 + std::exp(-logits[p]));
    dlogits.put(p, is_labelled ? scale * (probability - labels[p]) : 0.0);
  }
}

KernelTable binary_cross_entropy_kernels() {
  return table_of<BinaryCrossEntropy, BinaryCrossEntropyGradient>();
}

}  // namespace cloze::backend::reference

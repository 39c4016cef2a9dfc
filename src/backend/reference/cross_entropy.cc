#include "ops/cross_entropy.h"

#include "backend/reference/kernels.h"
#include "backend/reference/softmax_row.h"

namespace cloze::backend::reference {
namespace {

CLOZE_REFERENCE_KERNEL(CrossEntropy, CrossEntropy);
CLOZE_REFERENCE_KERNEL(CrossEntropyGradient, CrossEntropyGradient);

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
    loss += row.log_sum_exp - logits(b, labels[b]);
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
    const SoftmaxRow row = softmax_row(classes, [&](int64_t c) { return logits(b, c); });
    for (int64_t c = 0; c < classes; ++c) {
      const double probability = std::exp(logits(b, c) - row.log_sum_exp);
      const double difference = probability - (c == labels[b] ? 1.0 : 0.0);
      dlogits.put(b, c, labels[b] < 0 ? 0.0 : scale * difference);
    }
  }
}

KernelTable cross_entropy_kernels() { return table_of<CrossEntropy, CrossEntropyGradient>(); }

}  // namespace cloze::backend::reference

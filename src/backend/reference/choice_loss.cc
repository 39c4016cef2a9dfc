#include "ops/choice_loss.h"

#include "backend/reference/kernels.h"
#include "backend/reference/softmax_row.h"

namespace cloze::backend::reference {
namespace {

CLOZE_REFERENCE_KERNEL(ChoiceLoss, ChoiceLoss);
CLOZE_REFERENCE_KERNEL(ChoiceLossGradient, ChoiceLossGradient);

}  // namespace

template <typename X>
void ChoiceLoss::run(const Call& call) {
  using P = Parameter<X>;
  const Reader<X> logits = call.read<X>(kLogits);
  const int32_t* num_choices = call.integers(kNumChoices);
  const int32_t* labels = call.integers(kLabels);
  double loss = 0.0;
  double correct = 0.0;
  for (int64_t p = 0, first = 0; p < call.input_shape(kLabels)[0]; first += num_choices[p++]) {
    if (labels[p] < 0) continue;
    const SoftmaxRow row =
        softmax_row(num_choices[p], [&](int64_t choice) { return logits[first + choice]; });
    loss += row.log_sum_exp - logits[first + labels[p]];
    if (row.first_largest == labels[p]) correct += 1.0;
  }
  call.write<P>(kLoss).put(0, call.read<P>(kNormalizer)[0] * loss);
  call.write<P>(kCorrect).put(0, correct);
}

template <typename X>
void ChoiceLossGradient::run(const Call& call) {
  using P = Parameter<X>;
  const Reader<X> logits = call.read<X>(kLogits);
  const int32_t* num_choices = call.integers(kNumChoices);
  const int32_t* labels = call.integers(kLabels);
  const double scale = call.read<P>(kDloss)[0] * call.read<P>(kNormalizer)[0];
  const Writer<X> dlogits = call.write<X>(kDlogits);
  int64_t first = 0;
  for (int64_t p = 0; p < call.input_shape(kLabels)[0]; first += num_choices[p++]) {
    if (num_choices[p] == 0) continue;
    const SoftmaxRow row =
        softmax_row(num_choices[p], [&](int64_t choice) { return logits[first + choice]; });
    for (int64_t choice = 0; choice < num_choices[p]; ++choice) {
      const double probability = std::exp(logits[first + choice] - row.log_sum_exp);
      const double difference = probability - (choice == labels[p] ? 1.0 : 0.0);
      dlogits.put(first + choice, labels[p] < 0 ? 0.0 : scale * difference);
    }
  }
  for (; first < call.input_shape(kLogits)[0]; ++first) dlogits.put(first, 0.0);
}

KernelTable choice_loss_kernels() { return table_of<ChoiceLoss, ChoiceLossGradient>(); }

}  // namespace cloze::backend::reference

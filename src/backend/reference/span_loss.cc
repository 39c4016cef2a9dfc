#include "ops/span_loss.h"

#include "backend/reference/kernels.h"
#include "backend/reference/softmax_row.h"

namespace cloze::backend::reference {
namespace {

CLOZE_REFERENCE_KERNEL(SpanLoss, SpanLoss);
CLOZE_REFERENCE_KERNEL(SpanLossGradient, SpanLossGradient);

// start_positions and end_positions, which are consecutive inputs from `first` on.
struct Positions {
  Positions(const Call& call, size_t first)
      : of_side{call.integers(first), call.integers(first + 1)} {}
  bool is_ignored(int64_t b) const { return of_side[0][b] < 0 || of_side[1][b] < 0; }

  const int32_t* of_side[2];
};

}  // namespace

template <typename X>
void SpanLoss::run(const Call& call) {
  using P = Parameter<X>;
  const Reader<X> logits = call.read<X>(kLogits);
  const int32_t* begins = call.integers(kSequenceStarts);
  const Positions positions(call, kStartPositions);
  double loss = 0.0;
  double correct = 0.0;
  for (int64_t b = 0; b < call.input_shape(kStartPositions)[0]; ++b) {
    if (positions.is_ignored(b)) continue;
    bool is_correct = true;
    for (int64_t side = 0; side < 2; ++side) {
      const SoftmaxRow row = softmax_row(begins[b + 1] - begins[b],
                                         [&](int64_t t) { return logits(begins[b] + t, side); });
      const int32_t label = positions.of_side[side][b];
      loss += 0.5 * (row.log_sum_exp - logits(label, side));
      is_correct = is_correct && begins[b] + row.first_largest == label;
    }
    correct += is_correct ? 1.0 : 0.0;
  }
  call.write<P>(kLoss).put(0, call.read<P>(kNormalizer)[0] * loss);
  call.write<P>(kCorrect).put(0, correct);
}

template <typename X>
void SpanLossGradient::run(const Call& call) {
  using P = Parameter<X>;
  const Reader<X> logits = call.read<X>(kLogits);
  const int32_t* begins = call.integers(kSequenceStarts);
  const Positions positions(call, kStartPositions);
  const double scale = 0.5 * call.read<P>(kDloss)[0] * call.read<P>(kNormalizer)[0];
  const Writer<X> dlogits = call.write<X>(kDlogits);
  const int64_t sequences = call.input_shape(kStartPositions)[0];
  for (int64_t b = 0; b < sequences; ++b) {
    for (int64_t side = 0; side < 2; ++side) {
      const int32_t label = positions.of_side[side][b];
      const SoftmaxRow row = softmax_row(begins[b + 1] - begins[b],
                                         [&](int64_t t) { return logits(begins[b] + t, side); });
      for (int64_t t = begins[b]; t < begins[b + 1]; ++t) {
        const double probability = std::exp(logits(t, side) - row.log_sum_exp);
        const double difference = probability - (t == label ? 1.0 : 0.0);
        dlogits.put(t, side, positions.is_ignored(b) ? 0.0 : scale * difference);
      }
    }
  }
  for (int64_t t = begins[sequences]; t < call.input_shape(kLogits)[0]; ++t) {
    for (int64_t side = 0; side < 2; ++side) dlogits.put(t, side, 0.0);
  }
}

KernelTable span_loss_kernels() { return table_of<SpanLoss, SpanLossGradient>(); }

}  // namespace cloze::backend::reference

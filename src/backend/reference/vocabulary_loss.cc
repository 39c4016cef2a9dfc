#include "ops/vocabulary_loss.h"

#include <algorithm>

#include "backend/reference/kernels.h"
#include "backend/reference/softmax_row.h"

namespace cloze::backend::reference {
namespace {

CLOZE_REFERENCE_KERNEL_WITH_WORKSPACE(VocabularyLoss, VocabularyLoss);
CLOZE_REFERENCE_KERNEL_WITH_WORKSPACE(VocabularyLossGradient, VocabularyLossGradient);
CLOZE_REFERENCE_KERNEL_WITH_WORKSPACE(VocabularyLossWithGradient, VocabularyLossWithGradient);

// The inputs that all three operators share: those of the loss, from input `first` on.
template <typename X>
struct Head : ops::VocabularyLoss {
  using P = Parameter<X>;

  Head(const Call& call, size_t first)
      : rows(call.input_shape(first + kX)[0]),
        hidden(call.input_shape(first + kX)[1]),
        vocabulary(call.input_shape(first + kTable)[0]),
        x(call.read<X>(first + kX)),
        table(call.read_rounded<X>(first + kTable)),
        labels(call.integers(first + kLabels)),
        normalizers(call.read<P>(first + kNormalizer)),
        is_of_each(call.input_shape(first + kNormalizer).elements() > 1),
        has_bias(call.has_input(first + kBias)),
        bias(has_bias ? call.read<P>(first + kBias) : Reader<P>(nullptr, 0)) {}

  double logit(int64_t p, int64_t v) const {
    double sum = has_bias ? bias[v] : 0.0;
    for (int64_t j = 0; j < hidden; ++j) sum += x(p, j) * table(v, j);
    return sum;
  }

  double normalizer(int64_t p) const { return normalizers[is_of_each ? p : 0]; }

  int64_t rows, hidden, vocabulary;
  Reader<X> x;
  RoundedReader<X> table;
  const int32_t* labels;
  Reader<P> normalizers;
  bool is_of_each;
  bool has_bias;
  Reader<P> bias;
};

template <typename X>
SoftmaxRow softmax_of(const Head<X>& head, int64_t p, double* logits) {
  for (int64_t v = 0; v < head.vocabulary; ++v) logits[v] = head.logit(p, v);
  return softmax_row(head.vocabulary, [&](int64_t v) { return logits[v]; });
}

// Workspace: V.
template <typename X>
void put_loss(const Call& call, const Head<X>& head) {
  double loss = 0.0;
  double correct = 0.0;
  for (int64_t p = 0; p < head.rows; ++p) {
    if (head.labels[p] < 0) continue;
    const SoftmaxRow row = softmax_of(head, p, call.workspace());
    loss += head.normalizer(p) * (row.log_sum_exp - call.workspace()[head.labels[p]]);
    if (row.first_largest == head.labels[p]) correct += 1.0;
  }
  call.write<Parameter<X>>(VocabularyLoss::kLoss).put(0, loss);
  call.write<Parameter<X>>(VocabularyLoss::kCorrect).put(0, correct);
}

// The backward pass. Workspace: log_sum_exp [P], and after it logits [V] or a sum [H].
template <typename X>
class Backward {
 public:
  Backward(const Call& call, const Head<X>& head)
      : head_(head),
        dloss_(call.read<Parameter<X>>(VocabularyLossGradient::kDloss)[0]),
        log_sum_exp_(call.workspace()),
        sum_(call.workspace() + head.rows) {
    for (int64_t p = 0; p < head.rows; ++p) {
      log_sum_exp_[p] = softmax_of(head, p, sum_).log_sum_exp;
    }
  }

  void put_dx(const Writer<X>& dx) {
    for (int64_t p = 0; p < head_.rows; ++p) {
      std::fill(sum_, sum_ + head_.hidden, 0.0);
      for (int64_t v = 0; v < head_.vocabulary; ++v) {
        const double gradient = dlogit(p, v);
        for (int64_t j = 0; j < head_.hidden; ++j) sum_[j] += gradient * head_.table(v, j);
      }
      for (int64_t j = 0; j < head_.hidden; ++j) dx.put(p, j, sum_[j]);
    }
  }

  void put_dtable(const Writer<Parameter<X>>& dtable) {
    for (int64_t v = 0; v < head_.vocabulary; ++v) {
      std::fill(sum_, sum_ + head_.hidden, 0.0);
      for (int64_t p = 0; p < head_.rows; ++p) {
        const double gradient = dlogit(p, v);
        for (int64_t j = 0; j < head_.hidden; ++j) sum_[j] += gradient * head_.x(p, j);
      }
      for (int64_t j = 0; j < head_.hidden; ++j) dtable.put(v, j, sum_[j]);
    }
  }

  void put_dbias(const Writer<Parameter<X>>& dbias) {
    for (int64_t v = 0; v < head_.vocabulary; ++v) {
      double sum = 0.0;
      for (int64_t p = 0; p < head_.rows; ++p) sum += dlogit(p, v);
      dbias.put(v, sum);
    }
  }

 private:
  double dlogit(int64_t p, int64_t v) const {
    if (head_.labels[p] < 0) return 0.0;
    const double probability = std::exp(head_.logit(p, v) - log_sum_exp_[p]);
    return dloss_ * head_.normalizer(p) * (probability - (v == head_.labels[p] ? 1.0 : 0.0));
  }

  const Head<X>& head_;
  double dloss_;
  double* log_sum_exp_;
  double* sum_;
};

// The gradients are the outputs from `first` on.
template <typename X>
void put_gradients(const Call& call, const Head<X>& head, size_t first) {
  using Gradient = VocabularyLossGradient;
  Backward<X> backward(call, head);
  backward.put_dx(call.write<X>(first + Gradient::kDx));
  backward.put_dtable(call.write<Parameter<X>>(first + Gradient::kDtable));
  if (head.has_bias) backward.put_dbias(call.write<Parameter<X>>(first + Gradient::kDbias));
}

size_t gradient_workspace_bytes(const KernelRequest& request) {
  const Shape& x = request.inputs[VocabularyLossGradient::kX].shape;
  const int64_t vocabulary = request.inputs[VocabularyLossGradient::kTable].shape[0];
  return sizeof(double) * static_cast<size_t>(x[0] + std::max(vocabulary, x[1]));
}

}  // namespace

template <typename X>
void VocabularyLoss::run(const Call& call) {
  put_loss(call, Head<X>(call, 0));
}

size_t VocabularyLoss::workspace_bytes(const KernelRequest& request) {
  return sizeof(double) * static_cast<size_t>(request.inputs[kTable].shape[0]);
}

template <typename X>
void VocabularyLossGradient::run(const Call& call) {
  put_gradients(call, Head<X>(call, kX), 0);
}

size_t VocabularyLossGradient::workspace_bytes(const KernelRequest& request) {
  return gradient_workspace_bytes(request);
}

template <typename X>
void VocabularyLossWithGradient::run(const Call& call) {
  const Head<X> head(call, kX);
  put_loss(call, head);
  put_gradients(call, head, kDx);
}

size_t VocabularyLossWithGradient::workspace_bytes(const KernelRequest& request) {
  return gradient_workspace_bytes(request);
}

KernelTable vocabulary_loss_kernels() {
  return table_of<VocabularyLoss, VocabularyLossGradient, VocabularyLossWithGradient>();
}

}  // namespace cloze::backend::reference

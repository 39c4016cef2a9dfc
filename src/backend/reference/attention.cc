#include "ops/attention.h"

#include <algorithm>

#include "backend/reference/dropout.h"
#include "backend/reference/kernels.h"
#include "backend/reference/softmax_row.h"
#include "base/error.h"

namespace cloze::backend::reference {
namespace {

CLOZE_REFERENCE_KERNEL_WITH_WORKSPACE(Attention, Attention);
CLOZE_REFERENCE_KERNEL_WITH_WORKSPACE(AttentionGradient, AttentionGradient);

// One head of one sequence. Slots i, j count within the sequence, columns d within the head.
template <typename X>
class HeadView {
 public:
  HeadView(const Reader<X>& tensor, int64_t start, int64_t first_column)
      : tensor_(tensor), start_(start), first_column_(first_column) {}
  double operator()(int64_t i, int64_t d) const { return tensor_(start_ + i, first_column_ + d); }

 private:
  Reader<X> tensor_;
  int64_t start_, first_column_;
};

template <typename X>
double dot(const HeadView<X>& a, int64_t i, const HeadView<X>& b, int64_t j, int64_t size) {
  double sum = 0.0;
  for (int64_t d = 0; d < size; ++d) sum += a(i, d) * b(j, d);
  return sum;
}

struct HeadPlace {
  int64_t start = 0;   // first slot of the sequence
  int64_t length = 0;  // of the sequence
  int64_t head = 0;
  int64_t size = 0;  // columns of a head

  int64_t column() const { return head * size; }
};

// sequence_starts, sample_ids and random_key are consecutive inputs from `first` on; `q` is the
// input q.
struct Sequences {
  Sequences(const Call& call, size_t q, size_t first)
      : attributes(call.attributes<ops::AttentionAttributes>()),
        starts(call.integers(first)),
        count(call.input_shape(first)[0] - 1),
        sample_ids(call.integers(first + 1)),
        random_key(call.integers(first + 2)),
        slots(call.input_shape(q)[0]),
        hidden(call.input_shape(q)[1]) {
    ops::check_lengths({starts, static_cast<size_t>(count) + 1},
                       ops::longest_length(slots, attributes));
  }

  template <typename Body>
  void for_each_head(const Body& body) const {
    const int64_t size = hidden / attributes.num_heads;
    for (int64_t b = 0; b < count; ++b) {
      for (int64_t head = 0; head < attributes.num_heads; ++head) {
        body(HeadPlace{starts[b], starts[b + 1] - starts[b], head, size});
      }
    }
  }

  DropoutRow dropout_row(const HeadPlace& place, int64_t i) const {
    if (attributes.rate == 0.0) return {};
    return {attributes.rate,
            {.seed = static_cast<uint32_t>(random_key[0]),
             .step = static_cast<uint32_t>(random_key[1]),
             .site = static_cast<uint32_t>(attributes.site)},
            {.sample = static_cast<uint32_t>(sample_ids[place.start]),
             .row = ops::attention_dropout_row(place.head, i),
             .elements = place.length}};
  }

  template <typename T>
  void put_zero_behind_last(const Writer<T>& out, int64_t columns) const {
    for (int64_t t = starts[count]; t < slots; ++t) {
      for (int64_t j = 0; j < columns; ++j) out.put(t, j, 0.0);
    }
  }

  const ops::AttentionAttributes& attributes;
  const int32_t* starts;
  int64_t count;
  const int32_t* sample_ids;
  const int32_t* random_key;
  int64_t slots, hidden;
};

// Workspace: the scores of one query.
template <typename X>
void attend(const Call& call, const Sequences& sequences, const HeadPlace& place) {
  const HeadView<X> q(call.read<X>(Attention::kQ), place.start, place.column());
  const HeadView<X> k(call.read<X>(Attention::kK), place.start, place.column());
  const HeadView<X> v(call.read<X>(Attention::kV), place.start, place.column());
  const Writer<X> context = call.write<X>(Attention::kContext);
  double* scores = call.workspace();
  for (int64_t i = 0; i < place.length; ++i) {
    for (int64_t j = 0; j < place.length; ++j) {
      scores[j] = dot(q, i, k, j, place.size) / std::sqrt(static_cast<double>(place.size));
    }
    const double log_sum_exp =
        softmax_row(place.length, [&](int64_t j) { return scores[j]; }).log_sum_exp;
    call.write<Parameter<X>>(Attention::kLogSumExp).put(place.start + i, place.head, log_sum_exp);
    const DropoutRow mask = sequences.dropout_row(place, i);
    double* weights = scores;
    for (int64_t j = 0; j < place.length; ++j) {
      weights[j] = std::exp(scores[j] - log_sum_exp) * mask.factor(j);
    }
    for (int64_t d = 0; d < place.size; ++d) {
      double sum = 0.0;
      for (int64_t j = 0; j < place.length; ++j) sum += weights[j] * v(j, d);
      context.put(place.start + i, place.column() + d, sum);
    }
  }
}

// The backward pass of one head. dpd, ds and p of a pair (i, j) are computed where they are needed.
template <typename X>
class Backward {
 public:
  Backward(const Call& call, const Sequences& sequences, const HeadPlace& place)
      : sequences_(sequences),
        place_(place),
        dcontext_(view(call, AttentionGradient::kDcontext)),
        q_(view(call, AttentionGradient::kQ)),
        k_(view(call, AttentionGradient::kK)),
        v_(view(call, AttentionGradient::kV)),
        context_(view(call, AttentionGradient::kContext)),
        log_sum_exp_(call.read<Parameter<X>>(AttentionGradient::kLogSumExp)),
        scale_(1.0 / std::sqrt(static_cast<double>(place.size))),
        sum_(call.workspace()) {}

  // dq[i] = sum_j ds[i, j] k[j] / sqrt(D)
  void put_dq(const Writer<X>& dq) {
    const auto term = [&](int64_t i, int64_t j) { return scale_ * ds(i, j); };
    put_sums(dq, k_, term);
  }
  // dk[j] = sum_i ds[i, j] q[i] / sqrt(D)
  void put_dk(const Writer<X>& dk) {
    const auto term = [&](int64_t j, int64_t i) { return scale_ * ds(i, j); };
    put_sums(dk, q_, term);
  }
  // dv[j] = sum_i dropout(p)[i, j] dcontext[i]
  void put_dv(const Writer<X>& dv) {
    const auto term = [&](int64_t j, int64_t i) {
      return p(i, j) * sequences_.dropout_row(place_, i).factor(j);
    };
    put_sums(dv, dcontext_, term);
  }

 private:
  HeadView<X> view(const Call& call, size_t input) const {
    return {call.read<X>(input), place_.start, place_.column()};
  }

  // out[i] = sum_j factor(i, j) rows[j]
  template <typename Factor>
  void put_sums(const Writer<X>& out, const HeadView<X>& rows, const Factor& factor) {
    for (int64_t i = 0; i < place_.length; ++i) {
      std::fill(sum_, sum_ + place_.size, 0.0);
      for (int64_t j = 0; j < place_.length; ++j) {
        const double weight = factor(i, j);
        for (int64_t d = 0; d < place_.size; ++d) sum_[d] += weight * rows(j, d);
      }
      for (int64_t d = 0; d < place_.size; ++d) {
        out.put(place_.start + i, place_.column() + d, sum_[d]);
      }
    }
  }

  double p(int64_t i, int64_t j) const {
    const double score = dot(q_, i, k_, j, place_.size) * scale_;
    return std::exp(score - log_sum_exp_(place_.start + i, place_.head));
  }

  double ds(int64_t i, int64_t j) const {
    const double dpd = dot(dcontext_, i, v_, j, place_.size);
    const double delta = dot(dcontext_, i, context_, i, place_.size);
    return p(i, j) * (sequences_.dropout_row(place_, i).factor(j) * dpd - delta);
  }

  const Sequences& sequences_;
  HeadPlace place_;
  HeadView<X> dcontext_, q_, k_, v_, context_;
  Reader<Parameter<X>> log_sum_exp_;
  double scale_;
  double* sum_;
};

}  // namespace

template <typename X>
void Attention::run(const Call& call) {
  const Sequences sequences(call, kQ, kSequenceStarts);
  sequences.for_each_head([&](const HeadPlace& place) { attend<X>(call, sequences, place); });
  sequences.put_zero_behind_last(call.write<X>(kContext), sequences.hidden);
  sequences.put_zero_behind_last(call.write<Parameter<X>>(kLogSumExp),
                                 sequences.attributes.num_heads);
}

size_t Attention::workspace_bytes(const KernelRequest& request) {
  return sizeof(double) *
         static_cast<size_t>(ops::longest_length(
             request.inputs[kQ].shape[0], request.attributes_as<ops::AttentionAttributes>()));
}

template <typename X>
void AttentionGradient::run(const Call& call) {
  const Sequences sequences(call, kQ, kSequenceStarts);
  const Writer<X> dq = call.write<X>(kDq);
  const Writer<X> dk = call.write<X>(kDk);
  const Writer<X> dv = call.write<X>(kDv);
  sequences.for_each_head([&](const HeadPlace& place) {
    Backward<X> backward(call, sequences, place);
    backward.put_dq(dq);
    backward.put_dk(dk);
    backward.put_dv(dv);
  });
  for (const Writer<X>& out : {dq, dk, dv}) {
    sequences.put_zero_behind_last(out, sequences.hidden);
  }
}

size_t AttentionGradient::workspace_bytes(const KernelRequest& request) {
  const int64_t heads = request.attributes_as<ops::AttentionAttributes>().num_heads;
  return sizeof(double) * static_cast<size_t>(request.inputs[kQ].shape[1] / heads);
}

KernelTable attention_kernels() { return table_of<Attention, AttentionGradient>(); }

}  // namespace cloze::backend::reference

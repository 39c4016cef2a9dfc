#include "ops/pooling.h"

#include <algorithm>
#include <cmath>

#include "backend/reference/kernels.h"

namespace cloze::backend::reference {
namespace {

using ops::PoolingMode;

CLOZE_REFERENCE_KERNEL(PoolSequences, PoolSequences);
CLOZE_REFERENCE_KERNEL(PoolSequencesGradient, PoolSequencesGradient);
CLOZE_REFERENCE_KERNEL(NormalizeRows, NormalizeRows);
CLOZE_REFERENCE_KERNEL(NormalizeRowsGradient, NormalizeRowsGradient);

// One dimension of a sequence: column j of the n rows from `first` on.
template <typename X>
class Column {
 public:
  Column(const Reader<X>& x, int64_t first, int64_t n, int64_t j)
      : x_(x), first_(first), n_(n), j_(j), largest_(first_largest()) {}

  int64_t size() const { return n_; }
  double operator[](int64_t t) const { return x_(first_ + t, j_); }
  // The weight of row t in y.
  double share(PoolingMode mode, int64_t t) const {
    if (mode == PoolingMode::kMax) return t == largest_ ? 1.0 : 0.0;
    return ops::pooling_weight(mode, t, n_) / std::sqrt(ops::squared_pooling_divisor(mode, n_));
  }

 private:
  // The first row that has the largest number; NaN counts as larger than all others.
  int64_t first_largest() const {
    int64_t largest = 0;
    for (int64_t t = 1; t < n_ && !std::isnan((*this)[largest]); ++t) {
      if (!((*this)[t] <= (*this)[largest])) largest = t;
    }
    return largest;
  }

  const Reader<X>& x_;
  int64_t first_, n_, j_, largest_;
};

}  // namespace

template <typename X>
void PoolSequences::run(const Call& call) {
  const auto& modes = call.attributes<ops::PoolingAttributes>().modes;
  const Reader<X> x = call.read<X>(kX);
  const int32_t* starts = call.integers(kSequenceStarts);
  const auto y = call.write<Parameter<X>>(kY);
  const int64_t columns = call.input_shape(kX)[1];
  for (int64_t b = 0; b < call.output_shape(kY)[0]; ++b) {
    for (int64_t i = 0; i < call.output_shape(kY)[1]; ++i) {
      const PoolingMode mode = modes[static_cast<size_t>(i / columns)];
      const Column<X> column(x, starts[b], starts[b + 1] - starts[b], i % columns);
      double sum = 0.0;
      for (int64_t t = 0; t < column.size(); ++t) {
        const double share = column.share(mode, t);
        if (share != 0.0) sum += share * column[t];
      }
      y.put(b, i, sum);
    }
  }
}

template <typename X>
void PoolSequencesGradient::run(const Call& call) {
  const auto& modes = call.attributes<ops::PoolingAttributes>().modes;
  const auto dy = call.read<Parameter<X>>(kDy);
  const Reader<X> x = call.read<X>(kX);
  const int32_t* starts = call.integers(kSequenceStarts);
  const Writer<X> dx = call.write<X>(kDx);
  const int64_t columns = call.output_shape(kDx)[1];
  const int64_t sequences = call.input_shape(kDy)[0];
  for (int64_t j = 0; j < columns; ++j) {
    for (int64_t b = 0; b < sequences; ++b) {
      const Column<X> column(x, starts[b], starts[b + 1] - starts[b], j);
      for (int64_t t = 0; t < column.size(); ++t) {
        double sum = 0.0;
        for (size_t m = 0; m < modes.size(); ++m) {
          const double share = column.share(modes[m], t);
          if (share != 0.0) sum += share * dy(b, static_cast<int64_t>(m) * columns + j);
        }
        dx.put(starts[b] + t, j, sum);
      }
    }
    for (int64_t t = starts[sequences]; t < call.output_shape(kDx)[0]; ++t) dx.put(t, j, 0.0);
  }
}

template <typename X>
void NormalizeRows::run(const Call& call) {
  const Reader<X> x = call.read<X>(kX);
  const auto y = call.write<Parameter<X>>(kY);
  for (int64_t r = 0; r < call.input_shape(kX)[0]; ++r) {
    double squares = 0.0;
    for (int64_t j = 0; j < call.input_shape(kX)[1]; ++j) squares += x(r, j) * x(r, j);
    const double norm = std::max(std::sqrt(squares), ops::kLeastNorm);
    for (int64_t j = 0; j < call.input_shape(kX)[1]; ++j) y.put(r, j, x(r, j) / norm);
  }
}

template <typename X>
void NormalizeRowsGradient::run(const Call& call) {
  const auto dy = call.read<Parameter<X>>(kDy);
  const Reader<X> x = call.read<X>(kX);
  const Writer<X> dx = call.write<X>(kDx);
  const int64_t columns = call.input_shape(kX)[1];
  for (int64_t r = 0; r < call.input_shape(kX)[0]; ++r) {
    double squares = 0.0, product = 0.0;
    for (int64_t j = 0; j < columns; ++j) {
      squares += x(r, j) * x(r, j);
      product += x(r, j) * dy(r, j);
    }
    const double norm = std::sqrt(squares);
    const bool is_short = norm < ops::kLeastNorm;
    for (int64_t j = 0; j < columns; ++j) {
      const double across = dy(r, j) - (is_short ? 0.0 : x(r, j) * product / squares);
      dx.put(r, j, norm == 0.0 ? 0.0 : across / std::max(norm, ops::kLeastNorm));
    }
  }
}

KernelTable pooling_kernels() {
  return table_of<PoolSequences, PoolSequencesGradient, NormalizeRows, NormalizeRowsGradient>();
}

}  // namespace cloze::backend::reference

// Rows of layer normalisation and of its gradient, for layer_norm and dropout_add_layer_norm.
// Formulas: ops/layer_norm.h. T is float or bfloat16; parameters and statistics are f32.
#include <cmath>
#include <cstdint>

#if defined(CLOZE_BACKEND_CPU_LAYER_NORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CLOZE_BACKEND_CPU_LAYER_NORM_INL_H_
#undef CLOZE_BACKEND_CPU_LAYER_NORM_INL_H_
#else
#define CLOZE_BACKEND_CPU_LAYER_NORM_INL_H_
#endif

#include <hwy/highway.h>

#include "backend/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {

struct RowStatistics {
  float mean;
  float rstd;
};

// The rounding of the mean matters where it is large next to the deviation: the mean proper is
// rounded.mean + rest.
struct ExactStatistics {
  RowStatistics rounded;
  float rest;
};

// Two passes, as subtracting squares of large numbers would lose the variance.
template <class T>
HWY_INLINE ExactStatistics StatisticsOfRow(const T* x, int64_t n, float epsilon) {
  const FloatTag d;
  const float share = 1.0f / static_cast<float>(n);
  const float mean =
      SumOfTerms(d, n, [&](int64_t i, auto part) HWY_ATTR { return LoadFloats(d, x + i, part); }) *
      share;
  const FloatVector center = hn::Set(d, mean);
  const PairOfSums sums = SumPairs(n, [&](int64_t i, auto part, PairOfSums& to) HWY_ATTR {
    const FloatVector distance = Keep(d, hn::Sub(LoadFloats(d, x + i, part), center), part);
    to.first = hn::Add(to.first, distance);
    to.second = hn::MulAdd(distance, distance, to.second);
  });
  const float rest = hn::GetLane(sums.first) * share;
  const float variance = HWY_MAX(hn::GetLane(sums.second) * share - rest * rest, 0.0f);
  return {{mean, 1.0f / std::sqrt(variance + epsilon)}, rest};
}

// y = (x - mean) rstd gamma + beta for one row of n channels.
template <class T>
HWY_INLINE RowStatistics NormalizeRow(const T* x, const float* gamma, const float* beta, int64_t n,
                                      float epsilon, T* y) {
  const FloatTag d;
  const ExactStatistics statistics = StatisticsOfRow(x, n, epsilon);
  const FloatVector mean = hn::Set(d, statistics.rounded.mean);
  const FloatVector rstd = hn::Set(d, statistics.rounded.rstd);
  const FloatVector shift = hn::Set(d, statistics.rest * statistics.rounded.rstd);
  ForEachVector(d, n, [&](int64_t i, auto part) HWY_ATTR {
    const FloatVector xhat = hn::MulSub(hn::Sub(LoadFloats(d, x + i, part), mean), rstd, shift);
    const FloatVector scaled =
        hn::MulAdd(xhat, LoadFloats(d, gamma + i, part), LoadFloats(d, beta + i, part));
    StoreFloats(d, scaled, y + i, part);
  });
  return {statistics.rounded.mean + statistics.rest, statistics.rounded.rstd};
}

// What the gradient of one row reads, and the sums over rows that it adds to.
template <class T>
struct GradientRow {
  const T* dy;
  const T* x;
  const float* gamma;
  RowStatistics statistics;
  int64_t channels;
  float* dgamma;  // [channels], added to
  float* dbeta;   // [channels], added to
};

// store(i, part, dx) for the vectors of one row: dx = rstd (g - mean(g) - xhat mean(g xhat)) with
// g = dy gamma. Lanes after a tail have dy = 0, so they add nothing to the sums.
template <class T, class Store>
HWY_INLINE void LayerNormGradientRow(const GradientRow<T>& row, const Store& store) {
  const FloatTag d;
  const FloatVector mean = hn::Set(d, row.statistics.mean);
  const FloatVector rstd = hn::Set(d, row.statistics.rstd);
  const PairOfSums sums =
      SumPairs(row.channels, [&](int64_t i, auto part, PairOfSums& to) HWY_ATTR {
        const FloatVector dy = LoadFloats(d, row.dy + i, part);
        const FloatVector xhat = hn::Mul(hn::Sub(LoadFloats(d, row.x + i, part), mean), rstd);
        const FloatVector dgamma = hn::MulAdd(dy, xhat, LoadFloats(d, row.dgamma + i, part));
        const FloatVector dbeta = hn::Add(dy, LoadFloats(d, row.dbeta + i, part));
        StoreFloats(d, dgamma, row.dgamma + i, part);
        StoreFloats(d, dbeta, row.dbeta + i, part);
        const FloatVector g = hn::Mul(dy, LoadFloats(d, row.gamma + i, part));
        to.first = hn::Add(to.first, g);
        to.second = hn::MulAdd(g, xhat, to.second);
      });
  const FloatVector share = hn::Set(d, 1.0f / static_cast<float>(row.channels));
  const FloatVector mean_g = hn::Mul(sums.first, share);
  const FloatVector mean_g_xhat = hn::Mul(sums.second, share);
  ForEachVector(d, row.channels, [&](int64_t i, auto part) HWY_ATTR {
    const FloatVector xhat = hn::Mul(hn::Sub(LoadFloats(d, row.x + i, part), mean), rstd);
    const FloatVector g =
        hn::Mul(LoadFloats(d, row.dy + i, part), LoadFloats(d, row.gamma + i, part));
    const FloatVector centered = hn::Sub(g, mean_g);
    store(i, part, hn::Mul(rstd, hn::NegMulAdd(xhat, mean_g_xhat, centered)));
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();
#endif  // CLOZE_BACKEND_CPU_LAYER_NORM_INL_H_

// SquareSum: a running sum of squares of f32 vectors, in double. ZeroSum: whether all are finite.
#if defined(CLOZE_BACKEND_CPU_VECTOR_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CLOZE_BACKEND_CPU_VECTOR_SUMS_INL_H_
#undef CLOZE_BACKEND_CPU_VECTOR_SUMS_INL_H_
#else
#define CLOZE_BACKEND_CPU_VECTOR_SUMS_INL_H_
#endif

#include <hwy/highway.h>

#include "backend/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {

class SquareSum {
 public:
  HWY_INLINE SquareSum() : lower_(hn::Zero(DoubleTag())), upper_(hn::Zero(DoubleTag())) {}

  HWY_INLINE void Add(FloatVector v) {
    const DoubleTag d;
    const hn::Half<FloatTag> half;
    const auto lower = hn::PromoteTo(d, hn::LowerHalf(half, v));
    const auto upper = hn::PromoteTo(d, hn::UpperHalf(half, v));
    lower_ = hn::MulAdd(lower, lower, lower_);
    upper_ = hn::MulAdd(upper, upper, upper_);
  }
  HWY_INLINE double Total() const {
    return hn::GetLane(hn::SumOfLanes(DoubleTag(), hn::Add(lower_, upper_)));
  }

 private:
  using DoubleTag = hn::ScalableTag<double>;
  hn::Vec<DoubleTag> lower_;
  hn::Vec<DoubleTag> upper_;
};

// 0 while all values are finite, NaN after one that is not.
class ZeroSum {
 public:
  ZeroSum() : zeros_(hn::Zero(FloatTag())) {}
  HWY_INLINE void Add(FloatVector x) { zeros_ = hn::MulAdd(x, hn::Zero(FloatTag()), zeros_); }
  bool IsFinite() const { return hn::GetLane(hn::SumOfLanes(FloatTag(), zeros_)) == 0.0f; }

 private:
  FloatVector zeros_;
};

}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();
#endif  // CLOZE_BACKEND_CPU_VECTOR_SUMS_INL_H_

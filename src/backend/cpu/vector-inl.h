// Vectors of floats over arrays of f32, bf16 or f16: loads, stores, tails, sums. Everything here is
// compiled once per instruction set (Highway); include it from files that are.
//
// Functions whose first argument is a vector tag are spelled like Highway's own. Arithmetic is in
// f32 whatever the storage. Stores of bf16 and f16 round to nearest even, and NaN stays NaN, as
// base/bfloat16.h and base/float16.h define. A vector of n < Lanes(d) elements is a Tail: lanes
// after it read as 0 and are not written, so no byte outside an array is touched.
#include <type_traits>

#include "backend/cpu/workspace.h"
#include "base/bfloat16.h"
#include "base/dtype.h"
#include "base/float16.h"

#if defined(CLOZE_BACKEND_CPU_VECTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CLOZE_BACKEND_CPU_VECTOR_INL_H_
#undef CLOZE_BACKEND_CPU_VECTOR_INL_H_
#else
#define CLOZE_BACKEND_CPU_VECTOR_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVector = hn::Vec<FloatTag>;

// How much of a vector is meant: all of it, or its first lanes.
struct Whole {};
struct Tail {
  size_t count;
};

template <class D>
HWY_INLINE hn::Vec<D> LoadFloats(D d, const float* HWY_RESTRICT from, Whole) {
  return hn::LoadU(d, from);
}

template <class D>
HWY_INLINE hn::Vec<D> LoadFloats(D d, const float* HWY_RESTRICT from, Tail tail) {
  return hn::MaskedLoad(hn::FirstN(d, tail.count), d, from);
}

template <class T>
concept HalfFloat = std::is_same_v<T, bfloat16> || std::is_same_v<T, float16>;

template <class D>
using HalfBits = hn::Vec<hn::Rebind<uint16_t, D>>;

// A vector of halves, from and to their bits.
template <HalfFloat Half, class D>
HWY_INLINE hn::Vec<D> FromHalfBits(D d, HalfBits<D> bits) {
  if constexpr (std::is_same_v<Half, float16>) {
    const hn::Rebind<hwy::float16_t, D> d16;
    return hn::PromoteTo(d, hn::BitCast(d16, bits));
  } else {
    const hn::RebindToUnsigned<D> d32;
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(d32, bits)));
  }
}

// The bits of bf16 in the upper half of a word; the lower half holds leftover bits.
template <class D>
HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> RoundToUpperHalf(D, hn::Vec<D> v) {
  const hn::RebindToUnsigned<D> d32;
  const auto bits = hn::BitCast(d32, v);
  const auto is_odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d32, 1));
  const auto rounded = hn::Add(bits, hn::Add(is_odd, hn::Set(d32, 0x7fff)));
  const auto quiet_nan = hn::Or(bits, hn::Set(d32, 0x400000));
  return hn::IfThenElse(hn::RebindMask(d32, hn::IsNaN(v)), quiet_nan, rounded);
}

template <HalfFloat Half, class D>
HWY_INLINE HalfBits<D> ToHalfBits(D d, hn::Vec<D> v) {
  const hn::Rebind<uint16_t, D> d16;
  if constexpr (std::is_same_v<Half, float16>) {
    const hn::Rebind<hwy::float16_t, D> f16;
    return hn::BitCast(d16, hn::DemoteTo(f16, v));
  } else {
    const hn::RebindToSigned<D> signed32;
    return hn::DemoteTo(d16, hn::BitCast(signed32, hn::ShiftRight<16>(RoundToUpperHalf(d, v))));
  }
}

// v rounded to a half, as f32.
template <HalfFloat Half, class D>
HWY_INLINE hn::Vec<D> RoundTo(D d, hn::Vec<D> v) {
  if constexpr (std::is_same_v<Half, float16>) {
    return FromHalfBits<Half>(d, ToHalfBits<Half>(d, v));
  } else {
    const hn::RebindToUnsigned<D> d32;
    return hn::BitCast(d, hn::And(RoundToUpperHalf(d, v), hn::Set(d32, 0xffff0000)));
  }
}

template <class D, HalfFloat Half>
HWY_INLINE hn::Vec<D> LoadFloats(D d, const Half* HWY_RESTRICT from, Whole) {
  const hn::Rebind<uint16_t, D> d16;
  return FromHalfBits<Half>(d, hn::LoadU(d16, reinterpret_cast<const uint16_t*>(from)));
}

template <class D, HalfFloat Half>
HWY_INLINE hn::Vec<D> LoadFloats(D d, const Half* HWY_RESTRICT from, Tail tail) {
  const hn::Rebind<uint16_t, D> d16;
  HWY_ALIGN uint16_t bits[hn::MaxLanes(d)] = {};
  for (size_t i = 0; i < tail.count; ++i) bits[i] = from[i].bits;
  return FromHalfBits<Half>(d, hn::Load(d16, bits));
}

template <class D>
HWY_INLINE void StoreFloats(D d, hn::Vec<D> v, float* HWY_RESTRICT to, Whole) {
  hn::StoreU(v, d, to);
}

template <class D>
HWY_INLINE void StoreFloats(D d, hn::Vec<D> v, float* HWY_RESTRICT to, Tail tail) {
  hn::BlendedStore(v, hn::FirstN(d, tail.count), d, to);
}

template <class D, HalfFloat Half>
HWY_INLINE void StoreFloats(D d, hn::Vec<D> v, Half* HWY_RESTRICT to, Whole) {
  const hn::Rebind<uint16_t, D> d16;
  hn::StoreU(ToHalfBits<Half>(d, v), d16, reinterpret_cast<uint16_t*>(to));
}

template <class D, HalfFloat Half>
HWY_INLINE void StoreFloats(D d, hn::Vec<D> v, Half* HWY_RESTRICT to, Tail tail) {
  const hn::Rebind<uint16_t, D> d16;
  HWY_ALIGN uint16_t bits[hn::MaxLanes(d)];
  hn::Store(ToHalfBits<Half>(d, v), d16, bits);
  for (size_t i = 0; i < tail.count; ++i) to[i].bits = bits[i];
}

// An element of f32 that counts as rounded to a half.
template <HalfFloat Half>
struct RoundedFloat {
  float exact;
  operator float() const { return static_cast<float>(Half(exact)); }
};

template <class D, HalfFloat Half, class Part>
HWY_INLINE hn::Vec<D> LoadFloats(D d, const RoundedFloat<Half>* HWY_RESTRICT from, Part part) {
  return RoundTo<Half>(d, LoadFloats(d, &from->exact, part));
}

// v with the lanes after a tail set to 0, for sums.
template <class D>
HWY_INLINE hn::Vec<D> Keep(D, hn::Vec<D> v, Whole) {
  return v;
}

template <class D>
HWY_INLINE hn::Vec<D> Keep(D d, hn::Vec<D> v, Tail tail) {
  return hn::IfThenElseZero(hn::FirstN(d, tail.count), v);
}

// Prefetches n elements into the L1 cache, for rows so far apart that the processor does not
// predict the next one.
template <typename T>
HWY_INLINE void FetchRow(const T* row, int64_t n) {
  constexpr int64_t kLine = kLineBytes / static_cast<int64_t>(sizeof(T));
  for (int64_t i = 0; i < n; i += kLine) hwy::Prefetch(row + i);
}

// body(i, part) for the vectors that make up n elements, i ascending.
template <class D, class Body>
HWY_INLINE void ForEachVector(D d, int64_t n, const Body& body) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) body(i, Whole{});
  if (i < n) body(i, Tail{static_cast<size_t>(n - i)});
}

// The sum of term(i, part) over the vectors of n elements and over their lanes. Terms must be 0
// after a tail (Keep). Four running sums hide the latency of additions.
template <class D, class Term>
HWY_INLINE float SumOfTerms(D d, int64_t n, const Term& term) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto sum0 = hn::Zero(d), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    sum0 = hn::Add(sum0, term(i, Whole{}));
    sum1 = hn::Add(sum1, term(i + lanes, Whole{}));
    sum2 = hn::Add(sum2, term(i + 2 * lanes, Whole{}));
    sum3 = hn::Add(sum3, term(i + 3 * lanes, Whole{}));
  }
  for (; i + lanes <= n; i += lanes) sum0 = hn::Add(sum0, term(i, Whole{}));
  if (i < n) sum1 = hn::Add(sum1, term(i, Tail{static_cast<size_t>(n - i)}));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3))));
}

// Two sums over the same elements: add(i, part, sums) adds a vector to each.
struct PairOfSums {
  FloatVector first, second;
};

template <class Add>
HWY_INLINE PairOfSums SumPairs(int64_t n, const Add& add) {
  const FloatTag d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  PairOfSums even{hn::Zero(d), hn::Zero(d)};
  PairOfSums odd = even;
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    add(i, Whole{}, even);
    add(i + lanes, Whole{}, odd);
  }
  for (; i + lanes <= n; i += lanes) add(i, Whole{}, even);
  if (i < n) add(i, Tail{static_cast<size_t>(n - i)}, odd);
  return {hn::SumOfLanes(d, hn::Add(even.first, odd.first)),
          hn::SumOfLanes(d, hn::Add(even.second, odd.second))};
}

// to[i] = f(from[i]) for n elements.
template <class D, class From, class To, class Function>
HWY_INLINE void MapFloats(D d, int64_t n, const From* from, To* to, const Function& function) {
  ForEachVector(d, n, [&](int64_t i, auto part) HWY_ATTR {
    StoreFloats(d, function(LoadFloats(d, from + i, part)), to + i, part);
  });
}

// to[i] = f(a[i], b[i]) for n elements.
template <class D, class A, class B, class To, class Function>
HWY_INLINE void MapFloats(D d, int64_t n, const A* a, const B* b, To* to,
                          const Function& function) {
  ForEachVector(d, n, [&](int64_t i, auto part) HWY_ATTR {
    StoreFloats(d, function(LoadFloats(d, a + i, part), LoadFloats(d, b + i, part)), to + i, part);
  });
}

// to[i] = from[i] for n elements.
template <class From, class To>
HWY_INLINE void CopyFloats(const From* from, int64_t n, To* to) {
  MapFloats(FloatTag(), n, from, to, [](FloatVector v) HWY_ATTR { return v; });
}

// to[i] += from[i] for n elements.
template <class From, class To>
HWY_INLINE void AddFloats(const From* from, int64_t n, To* to) {
  MapFloats(FloatTag(), n, to, from, to,
            [](FloatVector sum, FloatVector v) HWY_ATTR { return hn::Add(sum, v); });
}

}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();
#endif  // CLOZE_BACKEND_CPU_VECTOR_INL_H_

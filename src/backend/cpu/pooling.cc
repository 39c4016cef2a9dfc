// Formulas: ops/pooling.h. No result depends on anything outside of its sequence or row, nor, but for
// what a fused product rounds (the weighted mean, gradients), on the instruction set: sums are in an
// order of their own, however long a vector is.
#include "ops/pooling.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backend/cpu/kernels.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/storage.h"
#include "base/division.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/pooling.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {
namespace {

using ops::PoolingMode;

// The rows [n, channels] of one sequence.
template <class T>
struct SequenceRows {
  const T* x;
  int64_t n;
  int64_t channels;

  const T* row(int64_t t) const { return x + t * channels; }
};

float PoolingDivisor(PoolingMode mode, int64_t n) {
  return static_cast<float>(std::sqrt(ops::squared_pooling_divisor(mode, n)));
}

// The lanes in which x is larger; NaN counts as larger than all numbers.
HWY_INLINE auto IsLarger(FloatVector x, FloatVector largest) {
  return hn::Or(hn::Gt(x, largest), hn::IsNaN(x));
}

// y [channels] = sum_t weight(t) h_t / divisor.
template <class T>
HWY_INLINE void WeightRows(const SequenceRows<T>& rows, PoolingMode mode, float* y) {
  const FloatTag d;
  std::memset(y, 0, static_cast<size_t>(rows.channels) * sizeof(float));
  for (int64_t t = 0; t < rows.n; ++t) {
    const auto weight = static_cast<float>(ops::pooling_weight(mode, t, rows.n));
    if (weight == 0.0f) continue;
    const FloatVector factor = hn::Set(d, weight);
    MapFloats(d, rows.channels, rows.row(t), y, y,
              [&](FloatVector x, FloatVector sum) HWY_ATTR { return hn::MulAdd(x, factor, sum); });
  }
  const FloatVector divisor = hn::Set(d, PoolingDivisor(mode, rows.n));
  MapFloats(d, rows.channels, y, y,
            [&](FloatVector sum) HWY_ATTR { return hn::Div(sum, divisor); });
}

template <class T>
HWY_INLINE void LargestOfRows(const SequenceRows<T>& rows, float* y) {
  CopyFloats(rows.x, rows.channels, y);
  for (int64_t t = 1; t < rows.n; ++t) {
    MapFloats(FloatTag(), rows.channels, rows.row(t), y, y,
              [](FloatVector x, FloatVector largest)
                  HWY_ATTR { return hn::IfThenElse(IsLarger(x, largest), x, largest); });
  }
}

void PoolSequences(const KernelRequest& request, const KernelArguments& arguments,
                   const Part& sequences, void*) {
  using Op = ops::PoolSequences;
  const auto& modes = request.attributes_as<ops::PoolingAttributes>().modes;
  const int64_t channels = request.inputs[Op::kX].shape[1];
  const int32_t* starts = arguments.input<int32_t>(Op::kSequenceStarts);
  float* y = arguments.output<float>(Op::kY) + sequences.begin * std::ssize(modes) * channels;
  with_storage(request.inputs[Op::kX].dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    for (int64_t b = sequences.begin; b < sequences.end; ++b) {
      const SequenceRows<T> rows{arguments.input<T>(Op::kX) + starts[b] * channels,
                                 starts[b + 1] - starts[b], channels};
      for (const PoolingMode mode : modes) {
        if (rows.n == 0) {
          std::memset(y, 0, static_cast<size_t>(channels) * sizeof(float));
        } else if (mode == PoolingMode::kMax) {
          LargestOfRows(rows, y);
        } else {
          WeightRows(rows, mode, y);
        }
        y += channels;
      }
    }
  });
}

// place [channels]: the number t of the first row with the largest number, as a float.
template <class T>
HWY_INLINE void PlacesOfLargest(const SequenceRows<T>& rows, float* largest, float* place) {
  const FloatTag d;
  CopyFloats(rows.x, rows.channels, largest);
  std::memset(place, 0, static_cast<size_t>(rows.channels) * sizeof(float));
  for (int64_t t = 1; t < rows.n; ++t) {
    const FloatVector here = hn::Set(d, static_cast<float>(t));
    const T* row = rows.row(t);
    ForEachVector(d, rows.channels, [&](int64_t i, auto part) HWY_ATTR {
      const FloatVector x = LoadFloats(d, row + i, part);
      const FloatVector most = LoadFloats(d, largest + i, part);
      const auto is_larger = IsLarger(x, most);
      StoreFloats(d, hn::IfThenElse(is_larger, x, most), largest + i, part);
      StoreFloats(d, hn::IfThenElse(is_larger, here, LoadFloats(d, place + i, part)), place + i,
                  part);
    });
  }
}

// Scratch of a thread: three rows of floats.
struct GradientScratch {
  float* sum;
  float* largest;
  float* place;
};

// sum += what row t of n gets of dy, for one mode.
void AddShare(PoolingMode mode, int64_t t, int64_t n, const float* dy, int64_t channels,
              const GradientScratch& scratch) {
  const FloatTag d;
  if (mode == PoolingMode::kMax) {
    const FloatVector here = hn::Set(d, static_cast<float>(t));
    ForEachVector(d, channels, [&](int64_t i, auto part) HWY_ATTR {
      const auto is_here = hn::Eq(LoadFloats(d, scratch.place + i, part), here);
      const FloatVector taken = hn::IfThenElseZero(is_here, LoadFloats(d, dy + i, part));
      StoreFloats(d, hn::Add(LoadFloats(d, scratch.sum + i, part), taken), scratch.sum + i, part);
    });
    return;
  }
  const auto weight = static_cast<float>(ops::pooling_weight(mode, t, n));
  if (weight == 0.0f) return;
  const FloatVector share = hn::Set(d, weight / PoolingDivisor(mode, n));
  MapFloats(d, channels, dy, scratch.sum, scratch.sum,
            [&](FloatVector v, FloatVector sum) HWY_ATTR { return hn::MulAdd(v, share, sum); });
}

void PoolSequencesGradient(const KernelRequest& request, const KernelArguments& arguments,
                           const Part& sequences, void* memory) {
  using Op = ops::PoolSequencesGradient;
  const auto& modes = request.attributes_as<ops::PoolingAttributes>().modes;
  const bool has_largest = std::ranges::count(modes, PoolingMode::kMax) > 0;
  const Shape& shape = request.inputs[Op::kX].shape;
  const int64_t channels = shape[1];
  const int32_t* starts = arguments.input<int32_t>(Op::kSequenceStarts);
  auto* const floats = static_cast<float*>(memory);
  const GradientScratch scratch{floats, floats + channels, floats + 2 * channels};
  with_storage(request.inputs[Op::kX].dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    T* const dx = arguments.output<T>(Op::kDx);
    for (int64_t b = sequences.begin; b < sequences.end; ++b) {
      const SequenceRows<T> rows{arguments.input<T>(Op::kX) + starts[b] * channels,
                                 starts[b + 1] - starts[b], channels};
      if (has_largest && rows.n > 0) PlacesOfLargest(rows, scratch.largest, scratch.place);
      for (int64_t t = 0; t < rows.n; ++t) {
        const float* dy = arguments.input<float>(Op::kDy) + b * std::ssize(modes) * channels;
        std::memset(scratch.sum, 0, static_cast<size_t>(channels) * sizeof(float));
        for (const PoolingMode mode : modes) {
          AddShare(mode, t, rows.n, dy, channels, scratch);
          dy += channels;
        }
        CopyFloats(scratch.sum, channels, dx + (starts[b] + t) * channels);
      }
    }
    // The part with the last sequence has the slots after it.
    if (sequences.end + 1 < request.inputs[Op::kSequenceStarts].shape[0]) return;
    const int64_t used = starts[sequences.end];
    std::memset(static_cast<void*>(dx + used * channels), 0,
                static_cast<size_t>((shape[0] - used) * channels) * sizeof(T));
  });
}

// sum_j a[j] b[j] in double, where each product is exact, in sixteen sums however long a vector is.
HWY_INLINE double ExactProduct(const float* a, const float* b, int64_t n) {
  constexpr int64_t kSums = 16;
  double sums[kSums] = {};
  int64_t j = 0;
  for (; j + kSums <= n; j += kSums) {
    for (int64_t i = 0; i < kSums; ++i) sums[i] += static_cast<double>(a[j + i]) * b[j + i];
  }
  for (int64_t i = 0; j + i < n; ++i) sums[i] += static_cast<double>(a[j + i]) * b[j + i];
  double total = 0.0;
  for (const double sum : sums) total += sum;
  return total;
}

void NormalizeRows(const KernelRequest& request, const KernelArguments& arguments, const Part& part,
                   void*) {
  using Op = ops::NormalizeRows;
  const FloatTag d;
  const int64_t columns = request.inputs[Op::kX].shape[1];
  with_storage(request.inputs[Op::kX].dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    for (int64_t r = part.begin; r < part.end; ++r) {
      float* y = arguments.output<float>(Op::kY) + r * columns;
      CopyFloats(arguments.input<T>(Op::kX) + r * columns, columns, y);
      const double norm = std::sqrt(ExactProduct(y, y, columns));
      const auto divisor = hn::Set(d, static_cast<float>(std::max(norm, ops::kLeastNorm)));
      MapFloats(d, columns, y, y, [&](FloatVector x) HWY_ATTR { return hn::Div(x, divisor); });
    }
  });
}

// dx of one row: (dy - x along) scale.
struct NormalGradient {
  float along;
  float scale;
};

NormalGradient NormalGradientOf(double squares, double product) {
  const double norm = std::sqrt(squares);
  if (norm == 0.0) return {0.0f, 0.0f};
  if (norm < ops::kLeastNorm) return {0.0f, static_cast<float>(1.0 / ops::kLeastNorm)};
  return {static_cast<float>(product / squares), static_cast<float>(1.0 / norm)};
}

void NormalizeRowsGradient(const KernelRequest& request, const KernelArguments& arguments,
                           const Part& part, void* scratch) {
  using Op = ops::NormalizeRowsGradient;
  const FloatTag d;
  const int64_t columns = request.inputs[Op::kX].shape[1];
  auto* const x = static_cast<float*>(scratch);
  with_storage(request.inputs[Op::kX].dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    for (int64_t r = part.begin; r < part.end; ++r) {
      const float* dy = arguments.input<float>(Op::kDy) + r * columns;
      CopyFloats(arguments.input<T>(Op::kX) + r * columns, columns, x);
      const NormalGradient gradient =
          NormalGradientOf(ExactProduct(x, x, columns), ExactProduct(x, dy, columns));
      const FloatVector along = hn::Set(d, gradient.along);
      const FloatVector scale = hn::Set(d, gradient.scale);
      MapFloats(d, columns, x, dy, arguments.output<T>(Op::kDx) + r * columns,
                [&](FloatVector v, FloatVector of_y)
                    HWY_ATTR { return hn::Mul(hn::NegMulAdd(v, along, of_y), scale); });
    }
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {
namespace {

HWY_EXPORT(PoolSequences);
HWY_EXPORT(PoolSequencesGradient);
HWY_EXPORT(NormalizeRows);
HWY_EXPORT(NormalizeRowsGradient);

// A kernel whose parts are sequences; x is the input of that number, and each thread has
// `scratch_rows` rows of floats as scratch.
template <RunPart kRunPart, size_t kX, size_t kScratchRows>
std::unique_ptr<Kernel> create_sequence_kernel(const KernelRequest& request) {
  const Shape& x = request.inputs[kX].shape;
  const int64_t sequences = request.inputs[kX + 1].shape[0] - 1;
  const int64_t elements = divide_up(x.elements(), std::max<int64_t>(1, sequences));
  return std::make_unique<PartKernel>(request, row_work(request, sequences, elements), kRunPart,
                                      kScratchRows * static_cast<size_t>(x[1]) * sizeof(float));
}

constexpr KernelRow kRows[] = {
    {&ops::kPoolSequences, "vector", refuse_other_storage,
     create_sequence_kernel<CLOZE_DISPATCH_PART(PoolSequences), ops::PoolSequences::kX, 0>},
    {&ops::kPoolSequencesGradient, "vector", refuse_other_storage<ops::PoolSequencesGradient::kX>,
     create_sequence_kernel<CLOZE_DISPATCH_PART(PoolSequencesGradient),
                            ops::PoolSequencesGradient::kX, 3>},
    {&ops::kNormalizeRows, "vector", refuse_other_storage,
     create_row_kernel<CLOZE_DISPATCH_PART(NormalizeRows)>},
    {&ops::kNormalizeRowsGradient, "vector", refuse_other_storage<ops::NormalizeRowsGradient::kX>,
     create_row_kernel<CLOZE_DISPATCH_PART(NormalizeRowsGradient), 1>},
};

}  // namespace

KernelTable pooling_kernels() { return kRows; }

}  // namespace cloze::backend::cpu
#endif  // HWY_ONCE

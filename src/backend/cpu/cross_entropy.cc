// A few classes and one row per sequence: too little work for threads, but rows of any length are
// taken in vectors.
#include "ops/cross_entropy.h"

#include <cmath>

#include "backend/cpu/kernels.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/storage.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/cross_entropy.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/math-inl.h"
#include "backend/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class T>
float FloatAt(const T* row, int64_t i) {
  const FloatTag d;
  return hn::GetLane(LoadFloats(d, row + i, Tail{1}));
}

// The index of the largest logit, the first of equals.
template <class T>
int64_t FirstLargest(const T* row, int64_t classes) {
  int64_t largest = 0;
  for (int64_t c = 1; c < classes; ++c) {
    if (FloatAt(row, c) > FloatAt(row, largest)) largest = c;
  }
  return largest;
}

// The labels as label smoothing and class weights change them.
class Targets {
 public:
  // weights [classes]; null: 1 each.
  Targets(const ops::CrossEntropyAttributes& attributes, const float* weights, int64_t classes)
      : of_label_(1.0 - attributes.label_smoothing),
        of_each_(attributes.label_smoothing / static_cast<double>(classes)),
        weights_(weights),
        total_weight_(static_cast<float>(classes)) {
    if (weights == nullptr || !is_smoothed()) return;
    const FloatTag d;
    total_weight_ = SumOfTerms(d, classes, [&](int64_t i, auto part) HWY_ATTR {
      return Keep(d, WeightsAt(i, part), part);
    });
  }

  bool is_smoothed() const { return of_each_ > 0.0; }
  double of_label(int32_t label) const {
    return of_label_ * (weights_ == nullptr ? 1.0 : double{weights_[label]});
  }
  // The share of each class, to be multiplied by its weight.
  double of_each() const { return of_each_; }
  float total_weight() const { return total_weight_; }
  template <class PartOfVector>
  HWY_INLINE FloatVector WeightsAt(int64_t i, PartOfVector part) const {
    const FloatTag d;
    return weights_ == nullptr ? hn::Set(d, 1.0f) : LoadFloats(d, weights_ + i, part);
  }

 private:
  double of_label_, of_each_;
  const float* weights_;
  float total_weight_;
};

// Softmax of one row with its label: exponentials are of x - largest, and those of the classes
// other than the label are summed separately, as 1 - p of a likely label would cancel.
template <class T>
class SoftmaxRow {
 public:
  SoftmaxRow(const T* row, int64_t classes, int32_t label)
      : row_(row),
        classes_(classes),
        label_(label),
        first_largest_(FirstLargest(row, classes)),
        largest_(FloatAt(row, first_largest_)) {
    const FloatTag d;
    others_ = SumOfTerms(d, classes, [&](int64_t i, auto part) HWY_ATTR {
      return Keep(d, hn::IfThenZeroElse(IsLabel(i), ExpAt(i, part)), part);
    });
    sum_ = others_;
    if (label >= 0) sum_ += hn::GetLane(ExpAt(label, Tail{1}));
  }

  int64_t first_largest() const { return first_largest_; }

  double loss(const Targets& targets) const {
    const double of_label = targets.of_label(label_) * LabelLoss();
    return targets.is_smoothed() ? of_label + targets.of_each() * LossOfAll(targets) : of_label;
  }

  // gradient [classes]; 0 for a row without label.
  void StoreGradient(float scale, const Targets& targets, T* gradient) const {
    const float row_scale =
        label_ < 0 ? 0.0f : scale * static_cast<float>(targets.of_label(label_));
    if (!targets.is_smoothed() || label_ < 0) {
      return StoreLabelGradient(row_scale, gradient,
                                [](FloatVector v, int64_t, auto, auto) HWY_ATTR { return v; });
    }
    // For each class scale / C s (total_weight p - w).
    const FloatTag d;
    const FloatVector each = hn::Set(d, scale * static_cast<float>(targets.of_each()));
    const FloatVector share = hn::Set(d, targets.total_weight() / sum_);
    StoreLabelGradient(
        row_scale, gradient, [&](FloatVector v, int64_t i, FloatVector exp, auto part) HWY_ATTR {
          return hn::MulAdd(each, hn::MulSub(share, exp, targets.WeightsAt(i, part)), v);
        });
  }

 private:
  // log(sum) - label, which stays exact where the sum is barely above 1.
  double LabelLoss() const {
    const double below = double{largest_} - double{FloatAt(row_, label_)};
    return below + std::log1p(double{others_} + std::expm1(-below));
  }
  // sum_c w[c] (log(sum) - row[c])
  double LossOfAll(const Targets& targets) const {
    const FloatTag d;
    const float below = SumOfTerms(d, classes_, [&](int64_t i, auto part) HWY_ATTR {
      const FloatVector ahead = hn::Sub(hn::Set(d, largest_), LoadFloats(d, row_ + i, part));
      return Keep(d, hn::Mul(targets.WeightsAt(i, part), ahead), part);
    });
    return double{below} + double{targets.total_weight()} * std::log(double{sum_});
  }
  // gradient [classes] = more(row_scale (p - onehot), i, exp(row - largest), part)
  template <class More>
  HWY_INLINE void StoreLabelGradient(float row_scale, T* gradient, const More& more) const {
    const FloatTag d;
    const FloatVector factor = hn::Set(d, row_scale / sum_);
    const FloatVector at_label = hn::Set(d, -row_scale * (others_ / sum_));
    ForEachVector(d, classes_, [&](int64_t i, auto part) HWY_ATTR {
      const FloatVector exp = ExpAt(i, part);
      const FloatVector of_label = hn::IfThenElse(IsLabel(i), at_label, hn::Mul(factor, exp));
      StoreFloats(d, more(of_label, i, exp, part), gradient + i, part);
    });
  }

  template <class Part>
  HWY_INLINE FloatVector ExpAt(int64_t i, Part part) const {
    const FloatTag d;
    return Exp(d, hn::Sub(LoadFloats(d, row_ + i, part), hn::Set(d, largest_)));
  }
  // The lane of the label in the vector that begins at i.
  HWY_INLINE hn::Mask<FloatTag> IsLabel(int64_t i) const {
    const FloatTag d;
    return hn::Eq(hn::Iota(d, 0.0f), hn::Set(d, static_cast<float>(label_ - i)));
  }

  const T* row_;
  int64_t classes_;
  int32_t label_;
  int64_t first_largest_;
  float largest_;
  float others_ = 0.0f;
  float sum_ = 0.0f;
};

template <class Names>
Targets TargetsOf(const KernelRequest& request, const KernelArguments& arguments) {
  const bool has_weights = request.inputs.size() > Names::kClassWeights;
  return {request.attributes_as<ops::CrossEntropyAttributes>(),
          has_weights ? arguments.input<float>(Names::kClassWeights) : nullptr,
          request.inputs[Names::kLogits].shape[1]};
}

void CrossEntropyLoss(const KernelRequest& request, const KernelArguments& arguments, const Part&,
                      void*) {
  using Op = ops::CrossEntropy;
  const Shape& shape = request.inputs[Op::kLogits].shape;
  const Targets targets = TargetsOf<Op>(request, arguments);
  with_storage(request.inputs[Op::kLogits].dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    double loss = 0.0;
    double correct = 0.0;
    for (int64_t b = 0; b < shape[0]; ++b) {
      const int32_t label = arguments.input<int32_t>(Op::kLabels)[b];
      if (label < 0) continue;
      const SoftmaxRow<T> row(arguments.input<T>(Op::kLogits) + b * shape[1], shape[1], label);
      loss += row.loss(targets);
      if (row.first_largest() == label) correct += 1.0;
    }
    loss *= arguments.input<float>(Op::kNormalizer)[0];
    const double results[] = {loss, correct};
    for (size_t i = 0; i < 2; ++i) {
      float& output = *arguments.output<float>(i);
      output = static_cast<float>(results[i] + (request.accumulates[i] ? double{output} : 0.0));
    }
  });
}

void CrossEntropyGradient(const KernelRequest& request, const KernelArguments& arguments,
                          const Part&, void*) {
  using Op = ops::CrossEntropyGradient;
  const Shape& shape = request.inputs[Op::kLogits].shape;
  const float scale =
      arguments.input<float>(Op::kDloss)[0] * arguments.input<float>(Op::kNormalizer)[0];
  const Targets targets = TargetsOf<Op>(request, arguments);
  with_storage(request.inputs[Op::kLogits].dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    for (int64_t b = 0; b < shape[0]; ++b) {
      const int32_t label = arguments.input<int32_t>(Op::kLabels)[b];
      const SoftmaxRow<T> row(arguments.input<T>(Op::kLogits) + b * shape[1], shape[1], label);
      row.StoreGradient(scale, targets, arguments.output<T>(Op::kDlogits) + b * shape[1]);
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

HWY_EXPORT(CrossEntropyLoss);
HWY_EXPORT(CrossEntropyGradient);

// All rows are one part.
template <RunPart kRunPart>
std::unique_ptr<Kernel> create(const KernelRequest& request) {
  return std::make_unique<PartKernel>(request, Work{.items = 1}, kRunPart);
}

constexpr KernelRow kRows[] = {
    {&ops::kCrossEntropy, "vector", refuse_other_storage,
     create<CLOZE_DISPATCH_PART(CrossEntropyLoss)>},
    {&ops::kCrossEntropyGradient, "vector",
     refuse_other_storage<ops::CrossEntropyGradient::kLogits>,
     create<CLOZE_DISPATCH_PART(CrossEntropyGradient)>},
};

}  // namespace

KernelTable cross_entropy_kernels() { return kRows; }

}  // namespace cloze::backend::cpu
#endif  // HWY_ONCE

// linear is grouped_linear with one group, and may have an activation.
#include "ops/linear.h"

#include "backend/reference/elementwise.h"
#include "backend/reference/kernels.h"
#include "ops/grouped_linear.h"

namespace cloze::backend::reference {
namespace {

CLOZE_REFERENCE_KERNEL(Linear, Linear);
CLOZE_REFERENCE_KERNEL(LinearInputGradient, LinearInputGradient);
CLOZE_REFERENCE_KERNEL(LinearWeightGradient, LinearWeightGradient);
CLOZE_REFERENCE_KERNEL(GroupedLinear, GroupedLinear);
CLOZE_REFERENCE_KERNEL(GroupedLinearInputGradient, GroupedLinearInputGradient);
CLOZE_REFERENCE_KERNEL(GroupedLinearWeightGradient, GroupedLinearWeightGradient);

using ops::linear_groups;
using ops::LinearGroups;

// Inputs and outputs of both operators have the same numbers.
static_assert(int{Linear::kBias} == int{GroupedLinear::kBias});
static_assert(int{LinearInputGradient::kWeight} == int{GroupedLinearInputGradient::kWeight});
static_assert(int{LinearWeightGradient::kX} == int{GroupedLinearWeightGradient::kX});

template <typename X>
void multiply(const Call& call, const std::optional<ops::GeluForm>& activation) {
  const Shape& x_shape = call.input_shape(Linear::kX);
  const LinearGroups groups = linear_groups(x_shape[1], call.input_shape(Linear::kWeight));
  const Reader<X> x = call.read<X>(Linear::kX);
  const RoundedReader<X> weight = call.read_rounded<X>(Linear::kWeight);
  const Writer<X> y = call.write<X>(Linear::kY);
  for (int64_t m = 0; m < x_shape[0]; ++m) {
    for (int64_t n = 0; n < groups.all_outputs(); ++n) {
      const int64_t first = n / groups.outputs * groups.inputs;
      double u = call.has_input(Linear::kBias) ? call.read<Parameter<X>>(Linear::kBias)[n] : 0.0;
      for (int64_t k = 0; k < groups.inputs; ++k) {
        u += x(m, first + k) * weight[n * groups.inputs + k];
      }
      y.put(m, n, activation ? gelu_value(*activation, u) : u);
      if (activation) call.write<X>(Linear::kU).put(m, n, u);
    }
  }
}

}  // namespace

template <typename X>
void Linear::run(const Call& call) {
  multiply<X>(call, call.attributes<ops::LinearAttributes>().activation);
}

template <typename X>
void GroupedLinear::run(const Call& call) {
  multiply<X>(call, std::nullopt);
}

template <typename X>
void GroupedLinearInputGradient::run(const Call& call) {
  const LinearGroups groups = linear_groups(call.output_shape(kDx)[1], call.input_shape(kWeight));
  const Reader<X> dy = call.read<X>(kDy);
  const RoundedReader<X> weight = call.read_rounded<X>(kWeight);
  const Writer<X> dx = call.write<X>(kDx);
  for (int64_t m = 0; m < call.input_shape(kDy)[0]; ++m) {
    for (int64_t i = 0; i < groups.all_inputs(); ++i) {
      const int64_t first = i / groups.inputs * groups.outputs;
      double sum = 0.0;
      for (int64_t n = first; n < first + groups.outputs; ++n) {
        sum += dy(m, n) * weight[n * groups.inputs + i % groups.inputs];
      }
      dx.put(m, i, sum);
    }
  }
}

template <typename X>
void GroupedLinearWeightGradient::run(const Call& call) {
  const LinearGroups groups = linear_groups(call.input_shape(kX)[1], call.output_shape(kDweight));
  const int64_t M = call.input_shape(kDy)[0];
  const Reader<X> dy = call.read<X>(kDy);
  const Reader<X> x = call.read<X>(kX);
  const Writer<Parameter<X>> dweight = call.write<Parameter<X>>(kDweight);
  for (int64_t n = 0; n < groups.all_outputs(); ++n) {
    const int64_t first = n / groups.outputs * groups.inputs;
    for (int64_t k = 0; k < groups.inputs; ++k) {
      double sum = 0.0;
      for (int64_t m = 0; m < M; ++m) sum += dy(m, n) * x(m, first + k);
      dweight.put(n * groups.inputs + k, sum);
    }
    if (!call.has_output(kDbias)) continue;
    double sum = 0.0;
    for (int64_t m = 0; m < M; ++m) sum += dy(m, n);
    call.write<Parameter<X>>(kDbias).put(n, sum);
  }
}

template <typename X>
void LinearInputGradient::run(const Call& call) {
  GroupedLinearInputGradient::run<X>(call);
}

template <typename X>
void LinearWeightGradient::run(const Call& call) {
  GroupedLinearWeightGradient::run<X>(call);
}

KernelTable linear_kernels() {
  return table_of<Linear, LinearInputGradient, LinearWeightGradient, GroupedLinear,
                  GroupedLinearInputGradient, GroupedLinearWeightGradient>();
}

}  // namespace cloze::backend::reference

#include "ops/grouped_linear.h"

#include "backend/reference/kernels.h"

namespace cloze::backend::reference {

using ops::linear_groups;
using ops::LinearGroups;

template <typename X>
void GroupedLinear::run(const Call& call) {
  const LinearGroups groups = linear_groups(call.input_shape(kX)[1], call.input_shape(kWeight));
  const Reader<X> x = call.read<X>(kX);
  const RoundedReader<X> weight = call.read_rounded<X>(kWeight);
  const Writer<X> y = call.write<X>(kY);
  for (int64_t m = 0; m < call.input_shape(kX)[0]; ++m) {
    for (int64_t n = 0; n < groups.all_outputs(); ++n) {
      const int64_t first = n / groups.outputs * groups.inputs;
      double sum = call.has_input(kBias) ? call.read<Parameter<X>>(kBias)[n] : 0.0;
      for (int64_t k = 0; k < groups.inputs; ++k) {
        sum += x(m, first + k) * weight(n * groups.inputs + k, 0);
      }
      y.put(m, n, sum);
    }
  }
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
        sum += dy(m, n) * weight(n * groups.inputs + i % groups.inputs, 0);
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

CLOZE_REFERENCE_INSTANTIATE(GroupedLinear);
CLOZE_REFERENCE_INSTANTIATE(GroupedLinearInputGradient);
CLOZE_REFERENCE_INSTANTIATE(GroupedLinearWeightGradient);

}  // namespace cloze::backend::reference

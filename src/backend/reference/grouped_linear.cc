#include "ops/grouped_linear.h"

#include "backend/reference/kernels.h"

namespace cloze::backend::reference {
namespace {

// Block g of outputs [n_begin, n_begin + outputs) reads inputs [k_begin, k_begin + inputs).
struct Block {
  int64_t n_begin, outputs, k_begin, inputs;
};

Block block_at(int64_t group, int64_t groups, int64_t all_inputs, int64_t all_outputs) {
  const int64_t inputs = all_inputs / groups;
  const int64_t outputs = all_outputs / groups;
  return {group * outputs, outputs, group * inputs, inputs};
}

}  // namespace

template <typename X>
void GroupedLinear::run(const Call& call) {
  const int64_t groups = call.attributes<ops::GroupedLinearAttributes>().groups;
  const Reader<X> x = call.read<X>(kX);
  const RoundedReader<X> weight = call.read_rounded<X>(kWeight);
  const Writer<X> y = call.write<X>(kY);
  for (int64_t g = 0; g < groups; ++g) {
    const Block block = block_at(g, groups, call.input_shape(kX)[1], call.input_shape(kWeight)[0]);
    for (int64_t m = 0; m < call.input_shape(kX)[0]; ++m) {
      for (int64_t n = block.n_begin; n < block.n_begin + block.outputs; ++n) {
        double sum = call.has_input(kBias) ? call.read<Parameter<X>>(kBias)[n] : 0.0;
        for (int64_t k = 0; k < block.inputs; ++k)
          sum += x(m, block.k_begin + k) * weight(n * block.inputs + k, 0);
        y.put(m, n, sum);
      }
    }
  }
}

template <typename X>
void GroupedLinearInputGradient::run(const Call& call) {
  const int64_t groups = call.attributes<ops::GroupedLinearAttributes>().groups;
  const Reader<X> dy = call.read<X>(kDy);
  const RoundedReader<X> weight = call.read_rounded<X>(kWeight);
  const Writer<X> dx = call.write<X>(kDx);
  for (int64_t g = 0; g < groups; ++g) {
    const Block block = block_at(g, groups, call.output_shape(kDx)[1], call.input_shape(kDy)[1]);
    for (int64_t m = 0; m < call.input_shape(kDy)[0]; ++m) {
      for (int64_t k = 0; k < block.inputs; ++k) {
        double sum = 0.0;
        for (int64_t n = block.n_begin; n < block.n_begin + block.outputs; ++n) {
          sum += dy(m, n) * weight(n * block.inputs + k, 0);
        }
        dx.put(m, block.k_begin + k, sum);
      }
    }
  }
}

template <typename X>
void GroupedLinearWeightGradient::run(const Call& call) {
  const int64_t groups = call.attributes<ops::GroupedLinearWeightGradientAttributes>().groups;
  const int64_t M = call.input_shape(kDy)[0];
  const Reader<X> dy = call.read<X>(kDy);
  const Reader<X> x = call.read<X>(kX);
  const Writer<Parameter<X>> dweight = call.write<Parameter<X>>(kDweight);
  for (int64_t g = 0; g < groups; ++g) {
    const Block block = block_at(g, groups, call.input_shape(kX)[1], call.input_shape(kDy)[1]);
    for (int64_t n = block.n_begin; n < block.n_begin + block.outputs; ++n) {
      for (int64_t k = 0; k < block.inputs; ++k) {
        double sum = 0.0;
        for (int64_t m = 0; m < M; ++m) sum += dy(m, n) * x(m, block.k_begin + k);
        dweight.put(n * block.inputs + k, sum);
      }
      if (!call.has_output(kDbias)) continue;
      double sum = 0.0;
      for (int64_t m = 0; m < M; ++m) sum += dy(m, n);
      call.write<Parameter<X>>(kDbias).put(n, sum);
    }
  }
}

CLOZE_REFERENCE_INSTANTIATE(GroupedLinear);
CLOZE_REFERENCE_INSTANTIATE(GroupedLinearInputGradient);
CLOZE_REFERENCE_INSTANTIATE(GroupedLinearWeightGradient);

}  // namespace cloze::backend::reference

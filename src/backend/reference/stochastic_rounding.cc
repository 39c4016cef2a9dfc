#include "ops/stochastic_rounding.h"

#include "backend/reference/kernels.h"

namespace cloze::backend::reference {
namespace {

CLOZE_REFERENCE_KERNEL(StochasticRounding, StochasticRounding);

}  // namespace

template <typename X>
void StochasticRounding::run(const Call& call) {
  if (call.read<Parameter<X>>(kGradientScale)[0] == 0.0) return;
  const Reader<Parameter<X>> parameter = call.read<Parameter<X>>(kParameter);
  const Writer<Parameter<X>> rounded = call.mutate<Parameter<X>>(kParameter);
  const int32_t* key = call.integers(kRandomKey);
  const ops::DropoutKey random{
      .seed = static_cast<uint32_t>(key[0]),
      .step = static_cast<uint32_t>(key[1]),
      .site = static_cast<uint32_t>(call.attributes<ops::StochasticRoundingAttributes>().site)};
  const int64_t elements = call.input_shape(kParameter).elements();
  for (int64_t i = 0; i < elements; ++i) {
    const uint32_t number = ops::dropout_number(random, ops::kSampleOfRounding, 0, elements, i);
    rounded.put(i, ops::stochastically_rounded(static_cast<float>(parameter[i]), number));
  }
}

KernelTable stochastic_rounding_kernels() { return table_of<StochasticRounding>(); }

}  // namespace cloze::backend::reference

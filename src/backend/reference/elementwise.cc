#include "backend/reference/elementwise.h"

namespace cloze::backend::reference {
namespace {

template <typename From, typename To>
void copy(const Call& call) {
  const Reader<From> x = call.read<From>(0);
  const Writer<To> y = call.write<To>(0);
  for (int64_t i = 0; i < call.input_shape(0).elements(); ++i) y.put(i, x[i]);
}

}  // namespace

template <typename X>
void Add::run(const Call& call) {
  const Reader<X> a = call.read<X>(0);
  const Reader<X> b = call.read<X>(1);
  const Writer<X> y = call.write<X>(0);
  for (int64_t i = 0; i < call.input_shape(0).elements(); ++i) y.put(i, a[i] + b[i]);
}

// X is bfloat16 when either side is; the other side may be f32.
template <typename X>
void Cast::run(const Call& call) {
  using P = Parameter<X>;
  const bool from_parameter = call.request.inputs[0].dtype == DType::kF32;
  const bool to_parameter = call.request.outputs[0].dtype == DType::kF32;
  if (from_parameter && to_parameter) return copy<P, P>(call);
  if (from_parameter) return copy<P, X>(call);
  if (to_parameter) return copy<X, P>(call);
  copy<X, X>(call);
}

template <typename X>
void Accumulate::run(const Call& call) {
  copy<X, X>(call);
}

CLOZE_REFERENCE_INSTANTIATE(Add);
CLOZE_REFERENCE_INSTANTIATE(Cast);
CLOZE_REFERENCE_INSTANTIATE(Accumulate);

}  // namespace cloze::backend::reference

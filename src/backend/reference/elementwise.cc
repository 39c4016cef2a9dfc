#include "backend/reference/elementwise.h"

namespace cloze::backend::reference {

template <typename X>
void Add::run(const Call& call) {
  const Reader<X> a = call.read<X>(0);
  const Reader<X> b = call.read<X>(1);
  const Writer<X> y = call.write<X>(0);
  for (int64_t i = 0; i < call.input_shape(0).elements(); ++i) y.put(i, a[i] + b[i]);
}

template <typename X>
void Accumulate::run(const Call& call) {
  const Reader<X> x = call.read<X>(0);
  const Writer<X> y = call.write<X>(0);
  for (int64_t i = 0; i < call.input_shape(0).elements(); ++i) y.put(i, x[i]);
}

CLOZE_REFERENCE_INSTANTIATE(Add);
CLOZE_REFERENCE_INSTANTIATE(Accumulate);

}  // namespace cloze::backend::reference

#include "backend/reference/kernels.h"

namespace cloze::backend::reference {

template <typename X>
void Add::run(const Call& call) {
  const Reader<X> a = call.read<X>(kA);
  const Reader<X> b = call.read<X>(kB);
  const Writer<X> y = call.write<X>(kSum);
  for (int64_t i = 0; i < call.input_shape(kA).elements(); ++i) y.put(i, a[i] + b[i]);
}

template <typename X>
void Accumulate::run(const Call& call) {
  const Reader<X> x = call.read<X>(kX);
  const Writer<X> y = call.write<X>(kY);
  for (int64_t i = 0; i < call.input_shape(kX).elements(); ++i) y.put(i, x[i]);
}

CLOZE_REFERENCE_INSTANTIATE(Add);
CLOZE_REFERENCE_INSTANTIATE(Accumulate);

}  // namespace cloze::backend::reference

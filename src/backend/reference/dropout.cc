#include "backend/reference/dropout.h"

#include "ops/dropout.h"

namespace cloze::backend::reference {

template <typename X>
void Dropout::run(const Call& call) {
  const Reader<X> x = call.read<X>(0);
  const Writer<X> y = call.write<X>(0);
  const ActivationDropout dropout(call, call.attributes<ops::DropoutAttributes>(), 1);
  for (int64_t t = 0; t < call.input_shape(0)[0]; ++t) {
    const DropoutRow mask = dropout.row(t);
    for (int64_t j = 0; j < call.input_shape(0)[1]; ++j) y.put(t, j, x(t, j) * mask.factor(j));
  }
}

CLOZE_REFERENCE_INSTANTIATE(Dropout);

}  // namespace cloze::backend::reference

#include "backend/reference/dropout.h"

#include "backend/reference/kernels.h"

namespace cloze::backend::reference {

template <typename X>
void Dropout::run(const Call& call) {
  const Reader<X> x = call.read<X>(kX);
  const Writer<X> y = call.write<X>(kY);
  const ActivationDropout dropout(call, call.attributes<ops::DropoutAttributes>(), kSampleIds);
  for (int64_t t = 0; t < call.input_shape(kX)[0]; ++t) {
    const DropoutRow mask = dropout.row(t);
    for (int64_t j = 0; j < call.input_shape(kX)[1]; ++j) y.put(t, j, x(t, j) * mask.factor(j));
  }
}

CLOZE_REFERENCE_INSTANTIATE(Dropout);

}  // namespace cloze::backend::reference

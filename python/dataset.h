// cloze._cloze.TokenSamples and its Batches: what cloze/_dataset.py makes a Dataset of.
#pragma once

#include <nanobind/nanobind.h>

namespace cloze_python {

void bind_dataset(nanobind::module_& module);

}  // namespace cloze_python

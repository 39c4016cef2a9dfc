// cloze.Embedder, Classifier, Tagger, Answerer, Filler, and what they answer.
#pragma once

#include <nanobind/nanobind.h>

namespace cloze_python {

void bind_tasks(nanobind::module_& module);

}  // namespace cloze_python

// cloze.Tokenizer, cloze.Encoding and cloze.Encodings.
#pragma once

#include <nanobind/nanobind.h>

namespace cloze_python {

void bind_tokenizer(nanobind::module_& module);

}  // namespace cloze_python

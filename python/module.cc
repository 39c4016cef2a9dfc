// cloze._cloze: libcloze_runtime for Python, over its C++ header. cloze/__init__.py says what is public.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <cloze_runtime.hpp>

#include "dataset.h"
#include "errors.h"
#include "tasks.h"
#include "tokenizer.h"

NB_MODULE(_cloze, module) {
  module.doc() = "libcloze_runtime for Python.";
  cloze_python::translate_errors();
  cloze_python::bind_tokenizer(module);
  cloze_python::bind_tasks(module);
  cloze_python::bind_dataset(module);
  module.def("version", &cloze_runtime::version, "\"0.1.0\"");
  module.def(
      "limit_instruction_set", &cloze_runtime::limit_instruction_set, nanobind::arg("name"),
      "Limits the process to avx2, avx512, avx512_bf16 or amx; before the first model is opened.");
}

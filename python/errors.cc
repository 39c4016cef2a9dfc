#include "errors.h"

#include <nanobind/nanobind.h>
#include <cloze_runtime.hpp>

namespace nb = nanobind;

namespace cloze_python {
namespace {

constexpr int kCallerCanAct = 2;

void raise(const cloze_runtime::Error& error) {
  const char* name = error.status() == kCallerCanAct ? "UsageError" : "Error";
  const nb::object type = nb::module_::import_("cloze._errors").attr(name);
  const nb::object made = type(error.what(), error.status());
  PyErr_SetObject(type.ptr(), made.ptr());
}

}  // namespace

void translate_errors() {
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const cloze_runtime::Error& error) {
      raise(error);
    }
  });
}

}  // namespace cloze_python

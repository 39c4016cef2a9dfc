#include "python_texts.h"

#include <algorithm>

namespace cloze_python {
namespace {

std::string_view view_of(PyObject* item, const char* what, Py_ssize_t number) {
  if (!PyUnicode_Check(item)) {
    PyErr_Format(PyExc_TypeError, "%s %zd is a %s; give a str", what, number,
                 Py_TYPE(item)->tp_name);
    throw nb::python_error();
  }
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(item, &size);
  if (bytes == nullptr) throw nb::python_error();
  return {bytes, static_cast<size_t>(size)};
}

}  // namespace

PythonTexts::PythonTexts(const nb::object& sequence, const char* what) {
  if (PyUnicode_Check(sequence.ptr()) || PyBytes_Check(sequence.ptr())) {
    PyErr_Format(PyExc_TypeError, "one %s where a list of them is needed; put it into [ ]", what);
    throw nb::python_error();
  }
  tuple_ = nb::steal(PySequence_Tuple(sequence.ptr()));
  if (!tuple_.is_valid()) throw nb::python_error();
  const Py_ssize_t count = PyTuple_GET_SIZE(tuple_.ptr());
  views_.reserve(static_cast<size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* item = PyTuple_GET_ITEM(tuple_.ptr(), i);
    views_.push_back(view_of(item, what, i));
    is_ascii_ = is_ascii_ && PyUnicode_IS_ASCII(item);
  }
}

PythonTexts optional_texts(const std::optional<TextSequence>& sequence, const char* what) {
  return sequence ? PythonTexts(*sequence, what) : PythonTexts();
}

std::vector<std::string> copies(const PythonTexts& texts, size_t begin, size_t end) {
  const auto& views = texts.views();
  return {views.begin() + static_cast<std::ptrdiff_t>(std::min(begin, views.size())),
          views.begin() + static_cast<std::ptrdiff_t>(std::min(end, views.size()))};
}

}  // namespace cloze_python

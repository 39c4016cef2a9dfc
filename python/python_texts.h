// The texts of a call from Python.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cloze_python {

namespace nb = nanobind;

using TextSequence = nb::typed<nb::sequence, nb::str>;

// Views into the strings of a list, tuple or other sequence, which it keeps alive: nothing is copied
// where a string is ASCII, and Python keeps the UTF-8 of any other beside it. The views may be read
// without the GIL. Made and destroyed with it.
// TypeError for one string in place of a sequence, and for items that are no strings, named by
// `what` ("text") and number; UnicodeEncodeError for halves of surrogate pairs.
class PythonTexts {
 public:
  PythonTexts() = default;
  PythonTexts(const nb::object& sequence, const char* what);

  const std::vector<std::string_view>& views() const { return views_; }
  bool is_ascii() const { return is_ascii_; }
  size_t size() const { return views_.size(); }

 private:
  nb::object tuple_;  // of its own: the caller's list may change meanwhile
  std::vector<std::string_view> views_;
  bool is_ascii_ = true;
};

// The second texts: none for None.
PythonTexts optional_texts(const std::optional<TextSequence>& sequence, const char* what);

// Copies of some of them, as the C++ header takes them.
std::vector<std::string> copies(const PythonTexts& texts, size_t begin, size_t end);

}  // namespace cloze_python

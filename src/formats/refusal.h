// Lets the parts of a reader say that they cannot go on: the reader catches it where it knows the
// file and the place, and makes a ParseError or a DataError of it.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

namespace cloze::formats {

struct Refusal {
  std::string message;
};

template <typename... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw Refusal{fmt::format(format, std::forward<Args>(args)...)};
}

}  // namespace cloze::formats

// Result<T>: a value parsed from outside bytes, or what was wrong with them and where.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "base/error.h"

namespace cloze {

struct ParseError {
  std::string message;
  uint64_t offset = 0;  // bytes from the start of the input
};

template <typename T>
class Result {
 public:
  Result(T value) : state_(std::move(value)) {}           // NOLINT: implicit by design
  Result(ParseError error) : state_(std::move(error)) {}  // NOLINT: implicit by design

  explicit operator bool() const { return std::holds_alternative<T>(state_); }
  const T& value() const& { return checked(); }
  T&& value() && { return std::move(const_cast<T&>(checked())); }
  const T& operator*() const { return checked(); }
  const T* operator->() const { return &checked(); }
  const ParseError& error() const { return std::get<ParseError>(state_); }

 private:
  const T& checked() const {
    CLOZE_CHECK(std::holds_alternative<T>(state_), "value of a failed Result: {}",
                std::get<ParseError>(state_).message);
    return std::get<T>(state_);
  }
  std::variant<T, ParseError> state_;
};

}  // namespace cloze

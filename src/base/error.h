// Errors, by who is to blame. A message names the thing, the value and the next step.
// The library throws these and never prints or exits; cli/ turns each into an exit code.
// Parsers of bytes from outside return a Result (base/result.h) with the offset instead.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace cloze {

// A bad flag, file or shape: the user can fix it.
class UserError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Bad content of a file the user named: corrupt, truncated, of another shape, or a model whose
// logits are not finite.
class DataError : public UserError {
  using UserError::UserError;
};

// No memory, no space, no device, a lost rank: the machine is to blame.
class EnvironmentError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A broken promise inside cloze: our bug.
class InternalError : public std::logic_error {
  using std::logic_error::logic_error;
};

template <typename... Args>
[[noreturn]] void throw_user_error(fmt::format_string<Args...> format, Args&&... args) {
  throw UserError(fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
[[noreturn]] void throw_data_error(fmt::format_string<Args...> format, Args&&... args) {
  throw DataError(fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
[[noreturn]] void throw_environment_error(fmt::format_string<Args...> format, Args&&... args) {
  throw EnvironmentError(fmt::format(format, std::forward<Args>(args)...));
}

[[noreturn]] void throw_internal_error(const char* file, int line, const char* condition,
                                       const std::string& message);

}  // namespace cloze

// Checks a promise of ours (never a user's input): CLOZE_CHECK(rows > 0, "rows {}", rows).
#define CLOZE_CHECK(condition, ...)                                                              \
  do {                                                                                           \
    if (!(condition)) [[unlikely]]                                                               \
      ::cloze::throw_internal_error(__FILE__, __LINE__, #condition, ::fmt::format(__VA_ARGS__)); \
  } while (false)

// Messages of a command on standard error, beside its output; they name options as the user gave
// them (cli/console/spelling.h).
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "cli/console/spelling.h"

namespace cloze::cli {

// A message that cannot be written, to a disk that is full or a pipe that is closed, is lost; the
// work goes on.
template <typename... Values>
void say(fmt::format_string<Values...> format, Values&&... values) {
  std::fputs(spelled(fmt::format(format, std::forward<Values>(values)...)).c_str(), stderr);
}

}  // namespace cloze::cli

// A piece of text, and how often it occurs.
#pragma once

#include <cstdint>
#include <string>

namespace cloze::text {

struct CountedText {
  std::string text;
  int64_t count = 0;
};

}  // namespace cloze::text

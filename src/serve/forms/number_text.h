// f32 numbers as the shortest decimal text that reads back as the same f32: "0.1" for 0.1f. JSON of
// f64 numbers would have 0.10000000149011612.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>

namespace cloze::serve {

inline void append_number(float value, std::string& text) {
  fmt::format_to(std::back_inserter(text), "{}", value);
}

inline std::string number_text(float value) { return fmt::format("{}", value); }

}  // namespace cloze::serve

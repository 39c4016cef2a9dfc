// The length of a text as its reader counts it: places in a text are given in these.
#pragma once

#include <cstddef>
#include <string_view>

#include "text/utf8.h"

namespace cloze::tasks {

// Code points. Where the text is not UTF-8, each error (text/utf8.h) is one, as the character that
// stands for it is in Python's decode(errors="replace").
inline size_t decoded_length(std::string_view text) {
  size_t length = 0;
  for (size_t at = 0; at < text.size(); ++length) at += text::decode_utf8(text, at).bytes;
  return length;
}

}  // namespace cloze::tasks

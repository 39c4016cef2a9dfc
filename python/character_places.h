// Places in a text, from bytes of UTF-8 to the characters that Python counts.
#pragma once

#include <cstdint>
#include <string_view>

namespace cloze_python {

// Converts one place after the other. Ascending places cost one pass over the text; one that lies
// before the last begins again at the front. The text must outlive it.
class CharacterPlaces {
 public:
  explicit CharacterPlaces(std::string_view text) : text_(text) {}
  // The characters that begin before this byte, which is the first of one or the text's end.
  int64_t of(int64_t byte);

 private:
  std::string_view text_;
  int64_t byte_ = 0;
  int64_t character_ = 0;
};

}  // namespace cloze_python

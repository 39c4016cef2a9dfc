#include "character_places.h"

#include <algorithm>

namespace cloze_python {

int64_t CharacterPlaces::of(int64_t byte) {
  if (byte < byte_) byte_ = character_ = 0;
  const auto starts_character = [](char c) { return (c & 0xC0) != 0x80; };
  character_ += std::count_if(text_.begin() + byte_, text_.begin() + byte, starts_character);
  byte_ = byte;
  return character_;
}

}  // namespace cloze_python

// The words that are one token, by hash: where most look-ups of running text end. Only words of up
// to 16 bytes are held; any other word is looked for elsewhere. Thread-safe: immutable after
// construction.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace cloze::text {

class WholeWords {
 public:
  static constexpr int32_t kNone = -1;

  explicit WholeWords(const Vocabulary& vocabulary);

  // The id of a word, not empty, that is a token; kNone for a word that is not held.
  int32_t find(std::string_view word) const {
    if (word.size() > kMaxBytes) return kNone;
    const Key key = key_of(word);
    for (size_t slot = key.hash() >> shift_;; slot = (slot + 1) & (slots_.size() - 1)) {
      const Slot& held = slots_[slot];
      if (held.id == kNone || held.key == key) return held.id;
    }
  }

 private:
  static constexpr size_t kMaxBytes = 16;

  // First and last bytes and the length: together the whole word.
  struct Key {
    uint64_t first = 0, last = 0;
    uint32_t length = 0;
    bool operator==(const Key&) const = default;
    uint64_t hash() const {
      const uint64_t mixed = (first ^ length) * 0x9E3779B97F4A7C15u;
      return ((mixed >> 32 | mixed << 32) ^ last) * 0xC2B2AE3D27D4EB4Fu;
    }
  };
  struct Slot {
    Key key;
    int32_t id = kNone;
  };

  template <typename Integer>
  static Integer load(const char* bytes) {
    Integer value;
    std::memcpy(&value, bytes, sizeof(value));
    return value;
  }
  static Key key_of(std::string_view word) {
    const char* const begin = word.data();
    const char* const end = begin + word.size();
    const auto length = static_cast<uint32_t>(word.size());
    if (length >= 8) return {load<uint64_t>(begin), load<uint64_t>(end - 8), length};
    if (length >= 4) return {load<uint32_t>(begin), load<uint32_t>(end - 4), length};
    const auto byte = [&](size_t i) { return static_cast<uint8_t>(begin[i]); };
    return {byte(0), uint64_t{byte(length / 2)} << 8 | byte(length - 1), length};
  }

  std::vector<Slot> slots_;  // a power of two of them, at most half in use
  int shift_ = 0;            // takes a hash to a slot
};

}  // namespace cloze::text

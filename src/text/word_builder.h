// The normalised word being built while text is read: its bytes, how many code points it has and,
// when asked, which bytes of the source each of its bytes stands for.
//
// Words longer than a limit are known only by their extent: WordPiece answers them with [UNK].
// Storage is fixed; only marks that have to be sorted allocate.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "text/character_map.h"
#include "text/utf8.h"

namespace cloze::text {

// Bytes of the original text, end excluded.
struct Offset {
  uint32_t begin = 0, end = 0;
  bool operator==(const Offset&) const = default;
};

// A finished word. Views into the builder: valid until the next word is begun.
struct Word {
  std::string_view text;            // UTF-8, normalised; empty when is_overlong
  bool is_overlong = false;         // more code points than WordPiece looks at
  const Offset* sources = nullptr;  // of each byte of text; null when sources are not tracked
  Offset extent;  // from the first to the last code point, when sources are tracked
};

template <bool kTracksSources>
class WordBuilder {
 public:
  explicit WordBuilder(uint32_t max_code_points) : max_code_points_(max_code_points) {}

  bool is_empty() const { return num_code_points_ == 0; }
  bool has_pending() const { return !pending_.empty(); }

  // Letters and digits of ASCII that begin at byte `position` of the source. Setting bit 5 turns
  // capitals into small letters and leaves small letters and digits as they are.
  template <bool kLowerCase>
  void append_ascii(const char* bytes, size_t count, size_t position) {
    if (num_code_points_ + count <= max_code_points_) {
      char* out = bytes_.data() + num_bytes_;
      for (size_t i = 0; i < count; ++i) {
        out[i] = kLowerCase ? static_cast<char>(bytes[i] | 0x20) : bytes[i];
      }
    }
    if constexpr (kTracksSources) {
      for (size_t i = 0; i < count; ++i) {
        const auto begin = static_cast<uint32_t>(position + i);
        track({begin, begin + 1}, num_code_points_ + i, num_bytes_ + i, 1);
      }
    }
    num_code_points_ += count;
    num_bytes_ += count;
  }

  // `text` stands for the bytes `source`; all of it gets that source.
  void append(std::string_view text, size_t num_code_points, Offset source) {
    if (num_code_points_ + num_code_points <= max_code_points_) {
      std::memcpy(bytes_.data() + num_bytes_, text.data(), text.size());
    }
    track(source, num_code_points_, num_bytes_, text.size());
    num_code_points_ += num_code_points;
    num_bytes_ += text.size();
  }

  void append(char32_t code_point, Offset source) {
    char bytes[4];
    append({bytes, encode_utf8(code_point, bytes)}, 1, source);
  }

  // A mark whose place is known only when all marks after the same base have been seen.
  void append_pending(const NormalizedUnit& unit, Offset source) {
    pending_.push_back({unit, source});
  }

  // Puts the marks seen since the last base into canonical order and drops those to be dropped.
  // The k-th source code point of the run gives its place to the k-th that is left of it, whatever
  // changed places: this is how the `tokenizers` package keeps offsets increasing.
  void flush_pending() {
    std::vector<Offset> places;
    for (const PendingMark& mark : pending_) {
      if (mark.unit.is_first) places.push_back(mark.source);
    }
    std::stable_sort(pending_.begin(), pending_.end(), [](const auto& left, const auto& right) {
      return left.unit.combining_class < right.unit.combining_class;
    });
    size_t num_taken = 0;
    for (const PendingMark& mark : pending_) {
      if (mark.unit.is_first) ++num_taken;
      if (mark.unit.is_dropped) continue;
      append(mark.unit.code_point, num_taken == 0 ? mark.source : places[num_taken - 1]);
    }
    pending_.clear();
  }

  // Valid until clear(). Only when not empty and nothing is pending.
  Word word() const {
    const bool is_overlong = num_code_points_ > max_code_points_;
    return {is_overlong ? std::string_view{} : std::string_view{bytes_.data(), num_bytes_},
            is_overlong, kTracksSources && !is_overlong ? sources_.data() : nullptr, extent_};
  }
  void clear() { num_code_points_ = num_bytes_ = 0; }

 private:
  static constexpr size_t kMaxCodePoints = 200;
  static constexpr size_t kMaxBytes = 4 * kMaxCodePoints + 16;
  struct PendingMark {
    NormalizedUnit unit;
    Offset source;
  };

  void track(Offset source, size_t num_code_points, size_t num_bytes, size_t count) {
    if constexpr (kTracksSources) {
      if (num_code_points < max_code_points_) {
        for (size_t i = 0; i < count; ++i) sources_[num_bytes + i] = source;
      }
      if (num_code_points == 0) extent_.begin = source.begin;
      extent_.end = source.end;
    }
  }

  uint32_t max_code_points_;
  size_t num_code_points_ = 0;
  size_t num_bytes_ = 0;
  Offset extent_;
  std::vector<PendingMark> pending_;
  std::array<char, kMaxBytes> bytes_;
  std::array<Offset, kTracksSources ? kMaxBytes : 0> sources_;
};

}  // namespace cloze::text

// The basic tokenizer: cuts text into normalised words at white space, punctuation and ideographs,
// by the rules of one profile (character_map.h).
//
// Invalid UTF-8 is left out and counted (google ignores it; hugging face makes it U+FFFD, which its
// clean-up then removes: the same words).
// Thread-safe: immutable after construction.
// Sources: google-research/bert tokenization.py (2018); huggingface/tokenizers BertNormalizer and
// BertPreTokenizer.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/character_map.h"
#include "text/utf8.h"
#include "text/word_builder.h"

namespace cloze::text {

class BasicTokenizer {
 public:
  explicit BasicTokenizer(const TokenizerOptions& options)
      : map_(CharacterMap::of(options)),
        lower_case_(options.lower_case),
        max_word_code_points_(options.profile == Profile::kGoogle ? 200 : 100) {}

  // Calls on_word(const Word&) for each word in order; Word::sources is set when kTracksSources
  // (then text.size() must be below 2^32). Returns the number of invalid UTF-8 sequences.
  template <bool kTracksSources, typename OnWord>
  uint64_t split(std::string_view text, OnWord&& on_word) const {
    return lower_case_ ? Run<kTracksSources, true, OnWord>{*this, text, on_word}.run()
                       : Run<kTracksSources, false, OnWord>{*this, text, on_word}.run();
  }

 private:
  template <bool kTracksSources, bool kLowerCase, typename OnWord>
  class Run;

  const CharacterMap& map_;
  bool lower_case_;
  uint32_t max_word_code_points_;
};

// Letters and digits of ASCII: the bytes that the fast path takes.
inline constexpr std::array<bool, 256> kIsAsciiAlphanumeric = [] {
  std::array<bool, 256> table{};
  for (int c = '0'; c <= '9'; ++c) table[c] = true;
  for (int c = 'a'; c <= 'z'; ++c) table[c] = table[c - 'a' + 'A'] = true;
  return table;
}();

// One pass over one text.
template <bool kTracksSources, bool kLowerCase, typename OnWord>
class BasicTokenizer::Run {
 public:
  Run(const BasicTokenizer& tokenizer, std::string_view text, OnWord& on_word)
      : map_(tokenizer.map_),
        text_(text),
        on_word_(on_word),
        builder_(tokenizer.max_word_code_points_) {}

  uint64_t run() {
    while (position_ < text_.size()) {
      if (kIsAsciiAlphanumeric[static_cast<uint8_t>(text_[position_])]) {
        take_ascii();
      } else {
        take_code_point();
      }
    }
    end_word();
    return num_invalid_;
  }

 private:
  void take_ascii() {
    size_t end = position_ + 1;
    while (end < text_.size() && kIsAsciiAlphanumeric[static_cast<uint8_t>(text_[end])]) ++end;
    if (builder_.has_pending()) [[unlikely]]
      builder_.flush_pending();
    builder_.template append_ascii<kLowerCase>(text_.data() + position_, end - position_,
                                               position_);
    position_ = end;
  }

  void take_code_point() {
    const DecodedCodePoint decoded = decode_utf8(text_, position_);
    const Offset source{static_cast<uint32_t>(position_),
                        static_cast<uint32_t>(position_ + decoded.bytes)};
    const std::string_view bytes = text_.substr(position_, decoded.bytes);
    position_ += decoded.bytes;
    if (!decoded.is_valid) [[unlikely]] {
      ++num_invalid_;
      return;
    }
    const char32_t code_point = decoded.code_point;
    switch (map_.kind(code_point)) {
      case CharacterKind::kDropped:
        return;
      case CharacterKind::kSpace:
        return end_word();
      case CharacterKind::kPunctuation:
        return isolate(bytes, source);
      case CharacterKind::kIdeograph:
        return isolate(map_.mapping(code_point), source);
      case CharacterKind::kWord:
        return extend_word(bytes, source);
      case CharacterKind::kMapped:
        return extend_word(map_.mapping(code_point), source);
      case CharacterKind::kGeneral:
        return take_general(code_point, source);
    }
  }

  void extend_word(std::string_view bytes, Offset source) {
    if (builder_.has_pending()) [[unlikely]]
      builder_.flush_pending();
    builder_.append(bytes, count_code_points(bytes), source);
  }

  void isolate(std::string_view bytes, Offset source) {
    end_word();
    builder_.append(bytes, 1, source);
    end_word();
  }

  void take_general(char32_t code_point, Offset source) {
    units_.clear();
    map_.expand(code_point, units_);
    if (code_point == kCapitalSigma && map_.is_final_sigma(text_, position_ - kSigmaBytes)) {
      units_[0].code_point = kFinalSigma;
    }
    for (const NormalizedUnit& unit : units_) {
      if (unit.combining_class != 0) {
        builder_.append_pending(unit, source);
        continue;
      }
      if (builder_.has_pending()) builder_.flush_pending();
      if (unit.is_dropped) continue;
      if (unit.is_punctuation) end_word();
      builder_.append(unit.code_point, source);
      if (unit.is_punctuation) end_word();
    }
  }

  void end_word() {
    if (builder_.has_pending()) [[unlikely]]
      builder_.flush_pending();
    if (builder_.is_empty()) return;
    on_word_(builder_.word());
    builder_.clear();
  }

  const CharacterMap& map_;
  std::string_view text_;
  OnWord& on_word_;
  WordBuilder<kTracksSources> builder_;
  std::vector<NormalizedUnit> units_;
  size_t position_ = 0;
  uint64_t num_invalid_ = 0;
};

}  // namespace cloze::text

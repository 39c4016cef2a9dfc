// For tests: the tokenizer's rules once more, slow and plain, one whole pass per rule, longest
// match by trying every length. What the fast tokenizer is compared with.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"
#include "text/utf8.h"

namespace cloze::text {

// The pieces of a word by trying each length, the longest first; empty when it has none.
inline std::vector<int32_t> reference_pieces(const Vocabulary& vocabulary, std::string_view word) {
  std::vector<int32_t> pieces;
  for (size_t begin = 0; begin < word.size();) {
    std::optional<int32_t> found;
    size_t end = word.size() + 1;
    while (!found && --end > begin) {
      const std::string piece(word.substr(begin, end - begin));
      found = vocabulary.find(begin == 0 ? piece : "##" + piece);
    }
    if (!found) return {};
    pieces.push_back(*found);
    begin = end;
  }
  return pieces;
}

class ReferenceTokenizer {
 public:
  ReferenceTokenizer(const Vocabulary& vocabulary, TokenizerOptions options)
      : vocabulary_(vocabulary),
        map_(CharacterMap::of(options)),
        max_code_points_(options.profile == Profile::kGoogle ? 200 : 100) {}

  Encoding encode(std::string_view text) const {
    Encoding encoding;
    std::vector<Part> word;
    for (const Part& part : sort_marks(expand(text, encoding.num_invalid))) {
      if (part.unit.is_dropped) continue;
      if (part.is_border || part.unit.is_punctuation) finish(word, encoding);
      if (!part.is_border) word.push_back(part);
      if (part.unit.is_punctuation) finish(word, encoding);
    }
    finish(word, encoding);
    return encoding;
  }

 private:
  struct Part {
    NormalizedUnit unit;
    Offset source;
    bool is_border = false;
  };

  std::vector<Part> expand(std::string_view text, uint64_t& num_invalid) const {
    std::vector<Part> parts;
    const Part border{.is_border = true};
    for (size_t i = 0; i < text.size();) {
      const DecodedCodePoint decoded = decode_utf8(text, i);
      const size_t begin = i;
      i += decoded.bytes;
      num_invalid += !decoded.is_valid;
      if (!decoded.is_valid) continue;
      const CharacterKind kind = map_.kind(decoded.code_point);
      if (kind == CharacterKind::kDropped) continue;
      if (kind == CharacterKind::kSpace || kind == CharacterKind::kIdeograph) {
        parts.push_back(border);
      }
      if (kind == CharacterKind::kSpace) continue;
      std::vector<NormalizedUnit> units;
      map_.expand(decoded.code_point, units);
      if (decoded.code_point == kCapitalSigma && kind == CharacterKind::kGeneral &&
          map_.is_final_sigma(text, begin)) {
        units[0].code_point = kFinalSigma;
      }
      for (const NormalizedUnit& unit : units) {
        parts.push_back({unit, {static_cast<uint32_t>(begin), static_cast<uint32_t>(i)}});
      }
      if (kind == CharacterKind::kIdeograph) parts.push_back(border);
    }
    return parts;
  }

  // Canonical order by exchanging neighbours; what came first in its code point keeps its place.
  static std::vector<Part> sort_marks(std::vector<Part> parts) {
    std::vector<Offset> places;
    for (const Part& part : parts) {
      if (part.unit.is_first && !part.is_border) places.push_back(part.source);
    }
    for (size_t end = 1; end < parts.size(); ++end) {
      for (size_t i = end; i > 0 && parts[i].unit.combining_class != 0 &&
                           parts[i - 1].unit.combining_class > parts[i].unit.combining_class;
           --i) {
        std::swap(parts[i - 1], parts[i]);
      }
    }
    size_t num_taken = 0;
    for (Part& part : parts) {
      if (part.is_border) continue;
      if (part.unit.is_first) ++num_taken;
      part.source = places[num_taken - 1];
    }
    return parts;
  }

  void finish(std::vector<Part>& word, Encoding& encoding) const {
    if (word.empty()) return;
    std::string bytes;
    std::vector<Offset> sources;
    for (const Part& part : word) {
      append_utf8(part.unit.code_point, bytes);
      sources.resize(bytes.size(), part.source);
    }
    std::vector<int32_t> ids;
    if (word.size() <= max_code_points_) ids = reference_pieces(vocabulary_, bytes);
    if (ids.empty()) {
      encoding.ids.push_back(vocabulary_.unknown_id());
      encoding.offsets.push_back({sources.front().begin, sources.back().end});
    }
    size_t begin = 0;
    for (const int32_t id : ids) {
      const size_t end = begin + vocabulary_.token(id).size() - (begin == 0 ? 0 : 2);
      encoding.ids.push_back(id);
      encoding.offsets.push_back({sources[begin].begin, sources[end - 1].end});
      begin = end;
    }
    word.clear();
  }

  const Vocabulary& vocabulary_;
  const CharacterMap& map_;
  size_t max_code_points_;
};

}  // namespace cloze::text

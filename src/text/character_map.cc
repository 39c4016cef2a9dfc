#include "text/character_map.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <span>
#include <tuple>

#include "base/error.h"
#include "text/utf8.h"

namespace cloze::text {
namespace {

constexpr char32_t kNumCodePoints = 0x110000;
constexpr char32_t kCombiningDotAbove = 0x307;

// Hangul syllables decompose by arithmetic: Unicode 14.0, section 3.12.
constexpr char32_t kHangulBase = 0xAC00, kLeadBase = 0x1100, kVowelBase = 0x1161,
                   kTailBase = 0x11A7;
constexpr uint32_t kNumTails = 28, kNumVowelTails = 21 * kNumTails,
                   kNumSyllables = 19 * kNumVowelTails;

uint8_t combining_class(const UnicodeTables& tables, char32_t code_point) {
  const CombiningRange* range = find_range(tables.combining, code_point);
  if (range == nullptr || contains(tables.not_combining, code_point)) return 0;
  return range->combining_class;
}

template <typename Range>
void append_code_points(std::span<const Range> ranges, uint32_t stride,
                        std::vector<char32_t>& out) {
  for (const Range& range : ranges) {
    for (char32_t c = range.first; c <= range.last; c += stride) out.push_back(c);
  }
}

}  // namespace

CharacterMap::CharacterMap(const TokenizerOptions& options)
    : tables_(options.profile == Profile::kGoogle ? google_unicode_tables()
                                                  : hugging_face_unicode_tables()),
      lower_case_(options.lower_case),
      strips_accents_(options.strips_accents()),
      isolates_ideographs_(options.tokenize_chinese_chars),
      lower_first_(options.profile == Profile::kGoogle) {
  const Block unchanged(size_t{1} << kBlockBits, static_cast<uint32_t>(CharacterKind::kWord));
  std::map<Block, uint16_t> known;
  std::vector<NormalizedUnit> units;
  blocks_.assign(kNumCodePoints >> kBlockBits, block_number(unchanged, known));
  const std::vector<char32_t> changing = changing_code_points();
  for (auto c = changing.begin(); c != changing.end();) {
    const char32_t number = *c >> kBlockBits;
    Block block = unchanged;
    for (; c != changing.end() && *c >> kBlockBits == number; ++c) {
      block[*c & kBlockMask] = make_entry(*c, units);
    }
    blocks_[number] = block_number(block, known);
  }
}

const CharacterMap& CharacterMap::of(const TokenizerOptions& options) {
  static std::mutex mutex;
  static std::map<std::tuple<Profile, bool, bool, bool>, CharacterMap> maps;
  const std::scoped_lock lock(mutex);
  return maps
      .try_emplace({options.profile, options.lower_case, options.strips_accents(),
                    options.tokenize_chinese_chars},
                   options)
      .first->second;
}

std::vector<char32_t> CharacterMap::changing_code_points() const {
  std::vector<char32_t> result;
  for (const auto& ranges :
       {tables_.dropped, tables_.spaces, tables_.punctuation, tables_.ideographs}) {
    append_code_points(ranges, 1, result);
  }
  if (lower_case_) {
    append_code_points(tables_.lower_case, 1, result);
    append_code_points(tables_.more_lower_case, 1, result);
    result.push_back(kCapitalIWithDot);
  }
  if (strips_accents_) {
    append_code_points(tables_.marks, 1, result);
    append_code_points(tables_.combining, 1, result);
    for (const Decomposition& entry : tables_.decompositions) result.push_back(entry.code_point);
    for (uint32_t i = 0; i < kNumSyllables; ++i) result.push_back(kHangulBase + i);
  }
  std::ranges::sort(result);
  result.erase(std::ranges::unique(result).begin(), result.end());
  return result;
}

uint32_t CharacterMap::make_entry(char32_t code_point, std::vector<NormalizedUnit>& units) {
  const auto plain = [](CharacterKind kind) { return static_cast<uint32_t>(kind); };
  if (contains(tables_.dropped, code_point)) return plain(CharacterKind::kDropped);
  if (contains(tables_.spaces, code_point)) return plain(CharacterKind::kSpace);
  units.clear();
  expand(code_point, units);
  if (isolates_ideographs_ && contains(tables_.ideographs, code_point)) {
    return store_mapping(CharacterKind::kIdeograph, units);
  }
  const bool is_unchanged = units.size() == 1 && units[0].code_point == code_point &&
                            units[0].combining_class == 0 && !units[0].is_dropped;
  if (is_unchanged) {
    return plain(units[0].is_punctuation ? CharacterKind::kPunctuation : CharacterKind::kWord);
  }
  if (code_point == kCapitalSigma && !tables_.cased.empty()) return plain(CharacterKind::kGeneral);
  // A fixed string is enough when bases are kept and the marks that came with them are dropped.
  const bool is_simple = std::all_of(units.begin(), units.end(), [](const auto& unit) {
    const bool is_base = !unit.is_dropped && unit.combining_class == 0 && !unit.is_punctuation;
    const bool is_lost_mark = unit.is_dropped && unit.combining_class != 0 && !unit.is_first;
    return is_base || is_lost_mark;
  });
  return is_simple ? store_mapping(CharacterKind::kMapped, units) : plain(CharacterKind::kGeneral);
}

uint32_t CharacterMap::store_mapping(CharacterKind kind, const std::vector<NormalizedUnit>& units) {
  std::string bytes;
  for (const NormalizedUnit& unit : units) {
    if (!unit.is_dropped) append_utf8(unit.code_point, bytes);
  }
  CLOZE_CHECK(bytes.size() <= kLengthMask, "mapping of {} bytes", bytes.size());
  const auto offset = static_cast<uint32_t>(pool_.size());
  pool_ += bytes;
  return offset << kOffsetShift | static_cast<uint32_t>(bytes.size()) << kLengthShift |
         static_cast<uint32_t>(kind);
}

uint16_t CharacterMap::block_number(const Block& block, std::map<Block, uint16_t>& known) {
  const auto [place, is_new] = known.emplace(block, static_cast<uint16_t>(known.size()));
  if (is_new) entries_.insert(entries_.end(), block.begin(), block.end());
  return place->second;
}

std::u32string CharacterMap::lowered(char32_t code_point) const {
  if (code_point == kCapitalIWithDot) return {U'i', kCombiningDotAbove};
  const LowerCaseRange* range = find_lower(tables_.lower_case, code_point);
  if (range == nullptr) range = find_lower(tables_.more_lower_case, code_point);
  return std::u32string(1, range == nullptr ? code_point : code_point + range->delta);
}

std::u32string CharacterMap::decomposed(char32_t code_point) const {
  std::u32string parts;
  if (code_point >= kHangulBase && code_point < kHangulBase + kNumSyllables) {
    const uint32_t index = code_point - kHangulBase;
    parts += kLeadBase + index / kNumVowelTails;
    parts += kVowelBase + index % kNumVowelTails / kNumTails;
    if (index % kNumTails != 0) parts += kTailBase + index % kNumTails;
    return parts;
  }
  const auto found = std::lower_bound(
      tables_.decompositions.begin(), tables_.decompositions.end(), code_point,
      [](const Decomposition& entry, char32_t value) { return entry.code_point < value; });
  const bool is_known = found != tables_.decompositions.end() && found->code_point == code_point &&
                        !contains(tables_.not_decomposed, code_point);
  if (!is_known) return std::u32string(1, code_point);
  for (const char32_t part : found->target) {
    if (part != 0) parts += part;
  }
  return parts;
}

void CharacterMap::expand(char32_t code_point, std::vector<NormalizedUnit>& units) const {
  const bool lowers_before = lower_case_ && lower_first_;
  const bool lowers_after = lower_case_ && !lower_first_;
  const auto itself = [](char32_t c) { return std::u32string(1, c); };
  for (const char32_t c : lowers_before ? lowered(code_point) : itself(code_point)) {
    bool is_first = true;
    for (const char32_t part : strips_accents_ ? decomposed(c) : itself(c)) {
      for (const char32_t last : lowers_after ? lowered(part) : itself(part)) {
        units.push_back(make_unit(part, last, is_first));
        is_first = false;
      }
    }
  }
}

NormalizedUnit CharacterMap::make_unit(char32_t code_point, char32_t lowered, bool is_first) const {
  NormalizedUnit unit{.code_point = lowered, .is_first = is_first};
  if (strips_accents_) {
    unit.combining_class = combining_class(tables_, code_point);
    unit.is_dropped = contains(tables_.marks, code_point);
  }
  unit.is_punctuation = contains(tables_.punctuation, lowered);
  return unit;
}

bool CharacterMap::is_final_sigma(std::string_view text, size_t position) const {
  // The next code point in a direction that is neither dropped nor case-ignorable decides; the
  // word's context ends at white space and ideographs.
  const auto decides = [&](const DecodedCodePoint& decoded) {
    return decoded.is_valid && kind(decoded.code_point) != CharacterKind::kDropped &&
           !contains(tables_.ignorable, decoded.code_point);
  };
  const auto is_cased = [&](const DecodedCodePoint& decoded) {
    return kind(decoded.code_point) != CharacterKind::kIdeograph &&
           contains(tables_.cased, decoded.code_point);
  };
  bool follows_cased = false;
  for (size_t i = position; i > 0;) {
    const DecodedCodePoint decoded = decode_utf8_before(text, i);
    if (decides(decoded)) {
      follows_cased = is_cased(decoded);
      break;
    }
    i -= decoded.bytes;
  }
  if (!follows_cased) return false;
  for (size_t i = position + kSigmaBytes; i < text.size();) {
    const DecodedCodePoint decoded = decode_utf8(text, i);
    if (decides(decoded)) return !is_cased(decoded);
    i += decoded.bytes;
  }
  return true;
}

}  // namespace cloze::text

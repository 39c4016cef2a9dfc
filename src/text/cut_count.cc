#include "text/cut_count.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/python_string.h"
#include "text/utf8.h"

namespace cloze::text {
namespace {

constexpr size_t kShownCharacters = 24;  // of a word

TokenizerOptions with_accents(TokenizerOptions rules, bool are_stripped) {
  rules.strip_accents = are_stripped;
  return rules;
}

std::string normalised(std::string_view character, const BasicTokenizer& tokenizer) {
  std::string words;
  tokenizer.split<false>(character, [&](const Word& word) { words.append(word.text); });
  return words;
}

// visit(code_point, bytes) for the valid ones.
template <typename Visit>
void for_each_character(std::string_view text, const Visit& visit) {
  for (size_t at = 0; at < text.size();) {
    const DecodedCodePoint next = decode_utf8(text, at);
    if (next.is_valid) visit(next.code_point, text.substr(at, next.bytes));
    at += next.bytes;
  }
}

double share_of(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

CutCount::CutCount(const Tokenizer& tokenizer)
    : tokenizer_(tokenizer),
      letters_(tokenizer.vocabulary()),
      keeping_(with_accents(tokenizer.options(), false)),
      stripping_(with_accents(tokenizer.options(), true)) {}

void CutCount::add(std::string_view text) {
  const Encoding encoding = tokenizer_.encode(text);
  const int32_t unknown = tokenizer_.vocabulary().unknown_id();
  tokens_ += std::ssize(encoding.ids);
  letters_.add(encoding.ids);
  for (size_t i = 0; i < encoding.ids.size(); ++i) {
    if (encoding.ids[i] != unknown) continue;
    ++unknown_;
    const Offset place = encoding.offsets[i];
    ++causes_[cause_of(text.substr(place.begin, place.end - place.begin))];
  }
  if (tokenizer_.options().strips_accents()) count_stripped(text);
}

double CutCount::unknown_share() const { return share_of(unknown_, tokens_); }
double CutCount::stripped_share() const { return share_of(stripped_characters_, characters_); }

std::string CutCount::cause_of(std::string_view word) {
  std::string missing, beginning;
  size_t characters = 0;
  for_each_character(word, [&](char32_t, std::string_view bytes) {
    if (missing.empty() && is_unknown(bytes)) missing = bytes;
    if (++characters <= kShownCharacters) beginning += bytes;
  });
  if (!missing.empty()) return missing;
  return characters <= kShownCharacters
             ? beginning
             : fmt::format("{}... ({} characters)", beginning, characters);
}

bool CutCount::is_unknown(std::string_view character) {
  const auto [place, is_new] = is_unknown_.try_emplace(std::string(character));
  if (is_new) {
    std::vector<int32_t> ids;
    tokenizer_.append_ids(character, ids);
    place->second = std::ranges::count(ids, tokenizer_.vocabulary().unknown_id()) > 0;
  }
  return place->second;
}

// Syllables of Hangul, which are taken apart, become longer.
bool CutCount::loses_marks(std::string_view character) const {
  const std::string kept = normalised(character, keeping_);
  const std::string stripped = normalised(character, stripping_);
  return stripped != kept && stripped.size() <= kept.size();
}

void CutCount::count_stripped(std::string_view text) {
  for_each_character(text, [&](char32_t code_point, std::string_view bytes) {
    if (is_python_space(code_point)) return;
    ++characters_;
    if (code_point < 0x80) return;
    const auto [place, is_new] = loses_marks_.try_emplace(code_point);
    if (is_new) place->second = loses_marks(bytes);
    if (!place->second) return;
    ++stripped_characters_;
    ++stripped_[std::string(bytes)];
  });
}

}  // namespace cloze::text

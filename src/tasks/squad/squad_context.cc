#include "tasks/squad/squad_context.h"

#include <algorithm>
#include <string>

#include "text/python_string.h"
#include "text/utf8.h"

namespace cloze::tasks {
namespace {

// Bytes of white space at `at`, else 0.
size_t space_at(std::string_view text, size_t at) {
  constexpr std::string_view kNarrowNoBreakSpace = "\u202F";
  const char c = text[at];
  if (c == ' ' || c == '\t' || c == '\r' || c == '\n') return 1;
  const bool is_narrow = text.substr(at).starts_with(kNarrowNoBreakSpace);
  return is_narrow ? kNarrowNoBreakSpace.size() : 0;
}

std::vector<text::Offset> words_of(std::string_view text) {
  std::vector<text::Offset> words;
  bool in_word = false;
  for (size_t at = 0; at < text.size();) {
    if (const size_t space = space_at(text, at); space > 0) {
      in_word = false;
      at += space;
      continue;
    }
    const auto begin = static_cast<uint32_t>(at++);
    if (!in_word) words.push_back({begin, begin});
    words.back().end = begin + 1;
    in_word = true;
  }
  return words;
}

std::vector<uint32_t> words_of_tokens(const SquadContext& context) {
  std::vector<uint32_t> token_words;
  token_words.reserve(context.offsets.size());
  uint32_t word = 0;
  for (const text::Offset& token : context.offsets) {
    while (word + 1 < context.words.size() && context.words[word + 1].begin <= token.begin) ++word;
    token_words.push_back(word);
  }
  return token_words;
}

// The byte after `count` code points; nothing when the text is shorter.
std::optional<size_t> byte_of(std::string_view text, size_t count) {
  size_t at = 0;
  for (; count > 0 && at < text.size(); --count) at += text::decode_utf8(text, at).bytes;
  if (count > 0) return std::nullopt;
  return at;
}

// The bytes of an answer's code points; nothing for none, or when they are not all in the text.
std::optional<text::Offset> bytes_of(std::string_view text, const SquadAnswer& answer) {
  if (answer.start < 0 || answer.text.empty()) return std::nullopt;
  const auto begin = byte_of(text, static_cast<size_t>(answer.start));
  if (!begin) return std::nullopt;
  const auto bytes = byte_of(text.substr(*begin), text::count_code_points(answer.text));
  if (!bytes) return std::nullopt;
  return text::Offset{static_cast<uint32_t>(*begin), static_cast<uint32_t>(*begin + *bytes)};
}

// The last word that begins at the byte or before it; nothing in front of the first.
std::optional<uint32_t> word_at(const SquadContext& context, uint32_t byte) {
  const auto next =
      std::upper_bound(context.words.begin(), context.words.end(), byte,
                       [](uint32_t value, const text::Offset& word) { return value < word.begin; });
  if (next == context.words.begin()) return std::nullopt;
  return static_cast<uint32_t>(next - context.words.begin() - 1);
}

uint32_t first_token_of(const SquadContext& context, uint32_t word) {
  const auto& words = context.token_words;
  return static_cast<uint32_t>(std::lower_bound(words.begin(), words.end(), word) - words.begin());
}

// The first tokens in the span that are `ids`, else the span.
TokenSpan tightened(const SquadContext& context, const TokenSpan& span,
                    const std::vector<int32_t>& ids) {
  const auto begin = context.ids.begin() + span.first, end = context.ids.begin() + span.last + 1;
  const auto found = std::search(begin, end, ids.begin(), ids.end());
  if (ids.empty() || found == end) return span;
  const auto first = static_cast<uint32_t>(found - context.ids.begin());
  return {first, first + static_cast<uint32_t>(ids.size()) - 1};
}

}  // namespace

SquadContext tokenized_context(std::string_view text, const text::Tokenizer& tokenizer,
                               SquadStyle style) {
  text::Encoding encoding = tokenizer.encode(text);
  SquadContext context{.ids = std::move(encoding.ids), .offsets = std::move(encoding.offsets)};
  if (style == SquadStyle::kGoogle) {
    context.words = words_of(text);
    context.token_words = words_of_tokens(context);
  }
  return context;
}

std::string joined_words(std::string_view text, const SquadContext& context, uint32_t first,
                         uint32_t last) {
  const auto words = std::span(context.words).subspan(first, last - first + 1);
  return single_spaced_part(text, words, {words.front().begin, words.back().end});
}

std::string single_spaced_part(std::string_view text, std::span<const text::Offset> words,
                               const text::Offset& part) {
  std::string result;
  for (const text::Offset& word : words) {
    const uint32_t begin = std::max(word.begin, part.begin), end = std::min(word.end, part.end);
    if (begin >= end) continue;
    if (!result.empty()) result += ' ';
    result += text.substr(begin, end - begin);
  }
  return result;
}

PlacedAnswer placed_by_words(std::string_view text, const SquadContext& context,
                             const SquadAnswer& answer, const text::Tokenizer& tokenizer) {
  const PlacedAnswer misplaced{.is_misplaced = true};
  const auto bytes = bytes_of(text, answer);
  if (!bytes) return misplaced;
  const auto first_word = word_at(context, bytes->begin);
  const auto last_word = word_at(context, bytes->end - 1);
  if (!first_word || !last_word) return misplaced;
  const std::string words = joined_words(text, context, *first_word, *last_word);
  if (words.find(text::python_single_spaced(answer.text)) == std::string::npos) return misplaced;
  const uint32_t first = first_token_of(context, *first_word);
  const uint32_t end = first_token_of(context, *last_word + 1);
  if (first >= end) return {};
  std::vector<int32_t> ids;
  tokenizer.append_ids(answer.text, ids);
  return {.tokens = tightened(context, {first, end - 1}, ids)};
}

PlacedAnswer placed_by_offsets(std::string_view text, const SquadContext& context,
                               const SquadAnswer& answer) {
  const auto bytes = bytes_of(text, answer);
  if (!bytes) return {.is_misplaced = true};
  const auto& offsets = context.offsets;
  const auto behind = std::upper_bound(
      offsets.begin(), offsets.end(), bytes->begin,
      [](uint32_t value, const text::Offset& token) { return value < token.begin; });
  const auto last =
      std::lower_bound(offsets.begin(), offsets.end(), bytes->end,
                       [](const text::Offset& token, uint32_t value) { return token.end < value; });
  PlacedAnswer placed{.is_misplaced =
                          text.substr(bytes->begin, bytes->end - bytes->begin) != answer.text};
  if (behind != offsets.begin() && last != offsets.end()) {
    const auto first = behind - 1;
    placed.tokens = {static_cast<uint32_t>(std::min(first, last) - offsets.begin()),
                     static_cast<uint32_t>(std::max(first, last) - offsets.begin())};
  }
  return placed;
}

}  // namespace cloze::tasks

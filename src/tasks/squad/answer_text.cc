#include "tasks/squad/answer_text.h"

#include <algorithm>

#include "tasks/decoded_length.h"
#include "text/python_string.h"
#include "text/utf8.h"

namespace cloze::tasks {
namespace {

void remove_all(std::string& text, std::string_view part) {
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) {
    text.erase(at, part.size());
  }
}

std::string basic_tokens(std::string_view text, const text::BasicTokenizer& tokenizer) {
  std::string result;
  tokenizer.split<true>(text, [&](const text::Word& word) {
    if (!result.empty()) result += ' ';
    // The normalised text of a word that is too long for WordPiece is not kept; its length is that
    // of the original but for accents.
    const auto [begin, end] = word.extent;
    result += word.is_overlong ? text.substr(begin, end - begin) : word.text;
  });
  return result;
}

// Code points and errors that are not spaces: those that character_at() goes through.
size_t count_characters(std::string_view text) {
  return decoded_length(text) - static_cast<size_t>(std::count(text.begin(), text.end(), ' '));
}

// The bytes of the character that follows `count` others.
text::Offset character_at(std::string_view text, size_t count) {
  for (size_t at = 0; at < text.size();) {
    const uint32_t bytes = text::decode_utf8(text, at).bytes;
    if (text[at] != ' ' && count-- == 0) {
      return {static_cast<uint32_t>(at), static_cast<uint32_t>(at + bytes)};
    }
    at += bytes;
  }
  return {};
}

}  // namespace

std::string joined_pieces(const text::Vocabulary& vocabulary, std::span<const int32_t> ids) {
  std::string text;
  for (const int32_t id : ids) {
    if (!text.empty()) text += ' ';
    text += vocabulary.token(id);
  }
  remove_all(text, std::string(" ") + std::string(text::kContinuation));
  remove_all(text, text::kContinuation);
  return text::python_single_spaced(text);
}

text::Offset aligned_answer(std::string_view pieces, std::string_view words,
                            const text::BasicTokenizer& tokenizer) {
  const text::Offset all{0, static_cast<uint32_t>(words.size())};
  const std::string tokens = basic_tokens(words, tokenizer);
  const size_t begin = tokens.find(pieces);
  if (begin == std::string::npos || pieces.empty()) return all;
  if (count_characters(tokens) != count_characters(words)) return all;
  const size_t first = count_characters(std::string_view(tokens).substr(0, begin));
  const size_t last = first + count_characters(pieces) - 1;
  return {character_at(words, first).begin, character_at(words, last).end};
}

}  // namespace cloze::tasks

#include "text/letter_count.h"

#include <algorithm>

#include "text/utf8.h"

namespace cloze::text {
namespace {

constexpr uint32_t kLongWord = 4;          // letters
constexpr double kFewestOfSeveral = 0.05;  // of the tokens, with several letters

}  // namespace

LetterCount::LetterCount(const Vocabulary& vocabulary) {
  for (const std::string& token : vocabulary.tokens()) pieces_.push_back(piece_of(token));
  const auto several = std::ranges::count_if(
      pieces_, [](const Piece& piece) { return piece.is_word && piece.letters > 1; });
  has_words_ = static_cast<double>(several) >= kFewestOfSeveral * vocabulary.size();
}

LetterCount::Piece LetterCount::piece_of(std::string_view token) {
  const bool is_special = token.front() == '[' && token.back() == ']' && token.size() > 2;
  const bool continues = token.starts_with(kContinuation) && token.size() > kContinuation.size();
  if (continues) token.remove_prefix(kContinuation.size());
  const bool has_digit = std::ranges::any_of(token, [](char c) { return c >= '0' && c <= '9'; });
  return {.letters = static_cast<uint32_t>(count_code_points(token)),
          .continues = continues,
          .is_word = !is_special && !has_digit};
}

void LetterCount::add(std::span<const int32_t> ids) {
  tokens_ += std::ssize(ids);
  while (!ids.empty()) {
    const auto end = std::find_if(ids.begin() + 1, ids.end(), [&](int32_t id) {
      return !pieces_[static_cast<size_t>(id)].continues;
    });
    const auto word = ids.first(static_cast<size_t>(end - ids.begin()));
    singles_ += singles_in(word);
    ids = ids.subspan(word.size());
  }
}

int64_t LetterCount::singles_in(std::span<const int32_t> word) const {
  uint32_t letters = 0;
  int64_t singles = 0;
  for (const int32_t id : word) {
    const Piece& piece = pieces_[static_cast<size_t>(id)];
    if (!piece.is_word) return 0;
    letters += piece.letters;
    singles += piece.letters == 1 ? 1 : 0;
  }
  return letters < kLongWord ? 0 : singles;
}

double LetterCount::share() const {
  if (!has_words_ || tokens_ == 0) return 0;
  return static_cast<double>(singles_) / static_cast<double>(tokens_);
}

}  // namespace cloze::text

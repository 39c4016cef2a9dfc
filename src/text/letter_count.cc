#include "text/letter_count.h"

#include <algorithm>
#include <string>
#include <vector>

#include "text/utf8.h"

namespace cloze::text {
namespace {

constexpr uint32_t kLongWord = 4;          // letters
constexpr double kFewestOfSeveral = 0.05;  // of the tokens, with several letters

}  // namespace

bool LetterCount::has_words() const {
  const auto several = std::ranges::count_if(vocabulary_.tokens(), [](const std::string& token) {
    const Piece piece = piece_of(token);
    return piece.is_word && piece.letters > 1;
  });
  return static_cast<double>(several) >= kFewestOfSeveral * vocabulary_.size();
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
  std::vector<Piece> word;
  for (const int32_t id : ids) {
    const Piece piece = piece_of(vocabulary_.tokens()[static_cast<size_t>(id)]);
    if (!piece.continues) {
      singles_ += singles_in(word);
      word.clear();
    }
    word.push_back(piece);
  }
  singles_ += singles_in(word);
}

int64_t LetterCount::singles_in(std::span<const Piece> word) {
  uint32_t letters = 0;
  int64_t singles = 0;
  for (const Piece& piece : word) {
    if (!piece.is_word) return 0;
    letters += piece.letters;
    singles += piece.letters == 1 ? 1 : 0;
  }
  return letters < kLongWord ? 0 : singles;
}

double LetterCount::share() const {
  if (tokens_ == 0 || !has_words()) return 0;
  return static_cast<double>(singles_) / static_cast<double>(tokens_);
}

}  // namespace cloze::text

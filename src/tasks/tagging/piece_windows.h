// Texts of any length, as pieces, for a model that has a row of logits for each token: what is too long
// for one sequence is read through windows that share a quarter of their pieces. A piece is taken
// from the window that sees it best (tasks/token_windows.h), so that each counts once.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/sample.h"
#include "inference/inference_client.h"
#include "tasks/token_windows.h"
#include "text/tokenizer.h"

namespace cloze::tasks {

struct PieceWindow {
  size_t text = 0;     // its number
  TokenWindow pieces;  // of that text

  // The position of a piece in the window's sequence, which begins with [CLS].
  int32_t position_of(uint32_t piece) const {
    return static_cast<int32_t>(piece - pieces.begin) + 1;
  }
};

struct PieceWindows {
  std::vector<PieceWindow> windows;   // in the order of the texts; none for a text of no pieces
  std::vector<data::Sample> samples;  // of each: [CLS] pieces [SEP]
  int64_t num_cut = 0;                // texts of several windows
};

// max_length: of a sequence, at least 3.
PieceWindows piece_windows(std::span<const std::vector<int32_t>> texts,
                           const text::Vocabulary& vocabulary, int64_t max_length);

// Visits each piece of each text once, with its logits. DataError when one is not finite.
void for_each_piece(
    inference::InferenceClient& client, const PieceWindows& all,
    const std::function<void(size_t text, uint32_t piece, std::span<const float> logits)>& visit);

// A sentence of words as pieces. A word of which the tokenizer leaves nothing, such as a lone control
// character, is [UNK], so that every word has a piece.
struct WordPieces {
  std::vector<int32_t> ids;
  std::vector<uint32_t> first;  // of each word
  int64_t num_empty = 0;        // words of which nothing was left
};
WordPieces word_pieces(std::span<const std::string> words, const text::Tokenizer& tokenizer);

}  // namespace cloze::tasks

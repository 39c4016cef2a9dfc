#include "tasks/tagging/piece_windows.h"

#include <algorithm>

#include "base/error.h"
#include "data/sequence.h"
#include "tasks/logits.h"

namespace cloze::tasks {
namespace {

// Windows share a quarter of their pieces: at the seam a piece sees an eighth of a window or more on
// each side.
TokenWindowRule window_rule(int64_t max_length) {
  const auto room = static_cast<uint32_t>(max_length - data::num_borders(false));
  return {.room = room, .step = room - room / 4};
}

}  // namespace

PieceWindows piece_windows(std::span<const std::vector<int32_t>> texts,
                           const text::Vocabulary& vocabulary, int64_t max_length) {
  CLOZE_CHECK(max_length > data::num_borders(false), "{} tokens hold no piece", max_length);
  const TokenWindowRule rule = window_rule(max_length);
  const data::BorderIds borders{vocabulary.cls_id(), vocabulary.sep_id()};
  PieceWindows all;
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto windows = token_windows(static_cast<uint32_t>(texts[i].size()), rule);
    if (windows.size() > 1) ++all.num_cut;
    for (const TokenWindow& window : windows) {
      const auto ids = std::span(texts[i]).subspan(window.begin, window.end - window.begin);
      all.windows.push_back({.text = i, .pieces = window});
      all.samples.push_back(data::sequence_of(ids, std::nullopt, borders));
    }
  }
  return all;
}

void for_each_piece(
    inference::InferenceClient& client, const PieceWindows& all,
    const std::function<void(size_t text, uint32_t piece, std::span<const float> logits)>& visit) {
  const size_t width = client.model().head().labels.size();
  client.run_each(all.samples, [&](size_t sample, std::span<const float> logits) {
    require_finite(logits, "a text");
    const PieceWindow& window = all.windows[sample];
    for (uint32_t piece = window.pieces.best_begin; piece < window.pieces.best_end; ++piece) {
      const auto row = static_cast<size_t>(window.position_of(piece));
      visit(window.text, piece, logits.subspan(row * width, width));
    }
  });
}

WordPieces word_pieces(std::span<const std::string> words, const text::Tokenizer& tokenizer) {
  WordPieces pieces;
  for (const std::string& word : words) {
    const size_t first = pieces.ids.size();
    pieces.first.push_back(static_cast<uint32_t>(first));
    tokenizer.append_ids(word, pieces.ids);
    if (pieces.ids.size() > first) continue;
    pieces.ids.push_back(tokenizer.vocabulary().unknown_id());
    ++pieces.num_empty;
  }
  return pieces;
}

}  // namespace cloze::tasks

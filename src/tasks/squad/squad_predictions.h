// Makes answers of the logits of SQuAD windows, as run_squad.py's write_predictions does it.
//
//   1. Of each window the n_best_size largest start and end logits are paired. A pair is kept when
//      both tokens are of the context, the start is in the window's best range, end >= start and
//      the length is at most max_answer_length tokens.
//   2. Pairs of all windows in order of start logit + end logit; equal ones in the order of window,
//      start logit, end logit, position. A text that came before is skipped; n_best_size remain.
//   3. 2.0: the answer "" takes part with the logits at [CLS] of the window where their sum, the
//      null score, is least, and stands at the end when n_best_size others score more.
//   4. probability = softmax of the sums of the logits over these.
//   5. The first is the answer; of 2.0 the first with text, or "" when
//      null odds = null score - its sum > null_score_diff_threshold.
//
// Where nothing is left: 1.1 answers "empty" with logits 0 as the original does. 2.0 answers "",
// and the null odds are the null score itself; the original crashes there.
//
// google: the text is cut out of the original words by characters (answer_text.h), unless these are
// together longer than 1,000 bytes. Then, and in hugging face's form, it is the context's bytes
// from the first token to the last. There texts are not repeated in the n-best list, which
// run_qa.py does.
//
// ends_at_words: neither is done. The answer is the part of the context from the first token to the
// last, widened until it neither begins nor ends inside a word (text/word_borders.h), with single
// spaces. Official scores are of answers that may, so this is for answers that people read.
//
// Logits stand for tokens that exist: there is no padding that could be among the largest.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tasks/squad/squad_features.h"

namespace cloze::tasks {

struct SquadPredictionOptions {
  int64_t n_best_size = 20;
  std::vector<int64_t> n_best_sizes = {};  // of each question; empty: n_best_size of all
  int64_t max_answer_length = 30;          // tokens
  double null_score_diff_threshold = 0;
  bool ends_at_words = false;  // google only
};

// The logits of one window: one for each token of its sequence. Views.
struct SquadLogits {
  std::span<const float> start, end;
};

struct SquadCandidate {
  std::string text;  // 2.0: "" for no answer
  double probability = 0;
  float start_logit = 0, end_logit = 0;
  // The text's place in the context, from its first character to its last; white space inside may
  // differ from the text's, which has single spaces (google). 0, 0 for no answer.
  text::Offset bytes;
  text::Offset code_points;
};

struct SquadPrediction {
  std::vector<SquadCandidate> n_best;  // most probable first; at least one
  size_t answer = 0;                   // which of them
  std::optional<double> null_odds;     // 2.0

  const std::string& text() const { return n_best[answer].text; }
};

class SquadPredictor {
 public:
  // Keeps references. UserError when a size is not positive.
  SquadPredictor(const SquadData& data, const SquadFeatures& features,
                 const text::Tokenizer& tokenizer, const SquadPredictionOptions& options);

  // logits: of features.windows_of(question), in order. UserError when their number differs,
  // DataError when they are not finite. Thread-safe.
  SquadPrediction predict(size_t question, std::span<const SquadLogits> logits) const;

 private:
  // Tokens of a window's sequence; 0, 0 stands for no answer.
  struct Pair {
    uint32_t window = 0;  // of the question's
    uint32_t start = 0, end = 0;
    float start_logit = 0, end_logit = 0;

    double score() const { return static_cast<double>(start_logit) + end_logit; }
  };

  int64_t n_best_size_of(size_t question) const {
    return options_.n_best_sizes.empty() ? options_.n_best_size : options_.n_best_sizes[question];
  }
  void check(size_t question, std::span<const SquadLogits> logits) const;
  void add_pairs(size_t question, uint32_t window, const SquadLogits& logits,
                 std::vector<Pair>& pairs) const;
  std::vector<SquadCandidate> candidates_of(size_t question, const std::vector<Pair>& pairs) const;
  SquadCandidate candidate_of(size_t question, const Pair& pair) const;
  bool is_cut_by_characters(const SquadContext& context, const TokenSpan& tokens) const;
  void place_words(std::string_view text, const SquadContext& context, const TokenSpan& tokens,
                   SquadCandidate& candidate) const;
  void decide(double null_score, SquadPrediction& prediction) const;

  const SquadData& data_;
  const SquadFeatures& features_;
  const text::Vocabulary& vocabulary_;
  text::BasicTokenizer basic_tokenizer_;
  SquadPredictionOptions options_;
};

// All questions; logits of all windows in order.
std::vector<SquadPrediction> predict_squad(const SquadPredictor& predictor,
                                           const SquadFeatures& features,
                                           std::span<const SquadLogits> logits, int threads);

// Writes into a folder: predictions.json, id to text; nbest_predictions.json, id to the list of
// text, probability, start_logit and end_logit; for 2.0 null_odds.json, id to null odds. A question
// a line. The probability of no answer is that of the n-best entry with the text "".
void write_squad_predictions(const std::filesystem::path& folder, const SquadData& data,
                             std::span<const SquadPrediction> predictions);

}  // namespace cloze::tasks

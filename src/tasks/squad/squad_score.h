// The official scores of SQuAD predictions, 1.1 and 2.0, as evaluate-v1.1.py and evaluate-v2.0.py
// compute them.
//
//   normalised   lower case, without punctuation (ASCII), without the words a, an and the, white
//                space single
//   exact match  1 if the normalised texts are equal, else 0
//   F1           2 precision recall / (precision + recall) over the normalised words, as bags
//
// each the best over a question's answers, averaged over the questions, in percent. In 2.0 a
// question whose answers are all empty when normalised has the one answer ""; an empty text has F1
// 1 with another empty one, else 0; questions without prediction are left out. In 1.1 they count 0; questions without answers, at
// which the official program fails, are left out.
//
// Source: github.com/rajpurkar/SQuAD-explorer, evaluation scripts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/squad/squad_data.h"

namespace cloze::tasks {

std::string normalized_answer(std::string_view text);
double exact_match(std::string_view prediction, std::string_view answer);
double answer_f1(std::string_view prediction, std::string_view answer);

using SquadPredictions = std::map<std::string, std::string>;  // question id → text
using NoAnswerProbabilities = std::map<std::string, double>;  // question id → probability

// {"id": "text", ...}, or Graphcore's form of 2.0, {"id": {"prediction_text": "text",
// "no_answer_probability": 0.3}, ...}. DataError that names the file and the id.
struct SquadPredictionFile {
  SquadPredictions texts;
  std::optional<NoAnswerProbabilities> no_answer;  // of the second form
};
SquadPredictionFile read_squad_predictions(const std::filesystem::path& path);
// UserError that names the first id that no question of the data has.
void require_questions_of(const SquadData& data, const SquadPredictions& predictions);
// {"id": 0.3, ...}
NoAnswerProbabilities read_no_answer_probabilities(const std::filesystem::path& path);

// A score in percent, of `questions` questions.
struct SquadShare {
  double exact = 0;
  double f1 = 0;
  int64_t questions = 0;
};

// The threshold on the no-answer probability above which "" is predicted, where a score is best.
struct BestThreshold {
  double score = 0;
  double threshold = 0;
};

struct SquadScores {
  SquadShare all;
  // Scores of 2.0 only: of questions with and without answer, if there are any; and best
  // thresholds.
  std::optional<SquadShare> with_answer;
  std::optional<SquadShare> without_answer;
  std::optional<BestThreshold> best_exact;
  std::optional<BestThreshold> best_f1;
  std::vector<std::string> missing;  // ids without prediction
  int64_t unanswered = 0;            // of 1.1 only: questions without answers, which are not scored
};

// Both: UserError when there is nothing to score.
SquadScores score_squad_1(const SquadData& data, const SquadPredictions& predictions);

// Scores 2.0: where the probability is over `threshold`, "" is taken as predicted. Without
// probabilities they are all 0, and no best thresholds are looked for.
SquadScores score_squad_2(const SquadData& data, const SquadPredictions& predictions,
                          const NoAnswerProbabilities* no_answer, double threshold);

// Prints as the official program does: {"exact_match": ..., "f1": ...}, or that of 2.0.
std::string squad_scores_json(const SquadScores& scores, bool is_version_2);

}  // namespace cloze::tasks

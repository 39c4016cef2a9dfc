// Answers questions on texts of any length with a fine-tuned model. Long texts are cut into windows
// that overlap (tasks/squad/squad_features.h): each begins 128 tokens after the one before, or a
// third of the model's positions where that is less. A question is cut to 64 tokens. An answer
// neither begins nor ends inside a word (text/word_borders.h). Errors:
// UserError for a model that answers no questions, an empty question or text, a question that
// leaves a text no room in the model's positions; DataError for a model whose logits are not
// finite.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "formats/json.h"
#include "inference/inference_client.h"
#include "tasks/squad/squad_data.h"
#include "tasks/squad/squad_features.h"
#include "tasks/truncation.h"
#include "tasks/unknown_tokens.h"

namespace cloze::tasks {

struct QuestionAndContext {
  std::string question;
  std::string context;
  int64_t top_k = 5;  // answers at most
};

struct Answer {
  std::string text;  // as it stands in the context; "" for no answer
  double probability = 0.0;
  int64_t start = 0, end = 0;  // code points of the context, end exclusive; 0, 0 for no answer
  text::Offset bytes;          // the same in bytes
};

struct Answers {
  std::vector<Answer> answers;  // the most probable first
  Truncation question;
  UnknownTokens unknown;  // of the question and its text
};

// {"answers": [{"text", "probability", "start", "end"}, ...]}, with what was cut and what is unknown
formats::Json answers_json(const Answers& answers);

struct AnswerOptions {
  int64_t max_answer_length = 30;   // tokens
  bool may_have_no_answer = false;  // "" takes part, as in SQuAD 2.0
};

class QuestionAnswerer {
 public:
  // `num_threads` run a batch together; 0: all processors.
  QuestionAnswerer(std::shared_ptr<const inference::PackedModel> model, int num_threads);

  // Answers each question with at most its top_k answers. They do not depend on which other
  // questions are asked with it, rounding aside.
  std::vector<Answers> answer(std::span<const QuestionAndContext> questions,
                              const AnswerOptions& options);

 private:
  SquadFeatures features_of(const SquadData& data) const;
  UnknownTokens unknown_of(const SquadData& data, const SquadFeatures& features,
                           size_t question) const;

  inference::InferenceClient client_;
};

}  // namespace cloze::tasks

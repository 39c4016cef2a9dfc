#include "tasks/question_answerer.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "tasks/squad/squad_answering.h"
#include "text/python_string.h"

namespace cloze::tasks {
namespace {

constexpr int64_t kMaxQueryLength = 64;   // of the question, as in SQuAD
constexpr int64_t kSequenceLength = 384;  // of a window, if the model has the positions

SquadData squad_data_of(std::span<const QuestionAndContext> questions, bool may_have_no_answer) {
  SquadData data;
  data.is_version_2 = may_have_no_answer;
  std::map<std::string_view, size_t> contexts;  // a text asked several times is tokenised once
  for (const QuestionAndContext& one : questions) {
    const auto [place, is_new] = contexts.emplace(one.context, data.contexts.size());
    if (is_new) data.contexts.push_back(one.context);
    data.questions.push_back({.id = std::to_string(data.questions.size()),
                              .question = one.question,
                              .context = place->second});
  }
  return data;
}

std::vector<Answer> answers_of(const SquadPrediction& prediction, int64_t top_k) {
  std::vector<Answer> answers;
  for (const SquadCandidate& candidate : prediction.n_best) {
    if (std::ssize(answers) == top_k) break;
    answers.push_back({.text = candidate.text,
                       .probability = candidate.probability,
                       .start = static_cast<int64_t>(candidate.code_points.begin),
                       .end = static_cast<int64_t>(candidate.code_points.end)});
  }
  return answers;
}

}  // namespace

QuestionAnswerer::QuestionAnswerer(const std::filesystem::path& folder,
                                   const inference::InferenceOptions& options)
    : model_(inference::open_pretrained_model(folder)),
      threads_(engine::resolved_threads(options.compile.num_threads)),
      session_(model_.config, model_.require_head(models::HeadKind::kQuestionAnswering), options) {
  session_.load(folder);
}

std::vector<std::vector<Answer>> QuestionAnswerer::answer(
    std::span<const QuestionAndContext> questions, const AnswerOptions& options) {
  for (const QuestionAndContext& one : questions) {
    const bool no_question = text::python_split(one.question).empty();
    if (no_question || text::python_split(one.context).empty()) {
      throw_user_error("the {} is empty; give a question and a text that answers it",
                       no_question ? "question" : "context");
    }
  }
  const SquadData data = squad_data_of(questions, options.may_have_no_answer);
  const SquadFeatures features =
      make_squad_features(data, model_.tokenizer,
                          {.max_sequence_length = std::min<int64_t>(
                               model_.config.max_position_embeddings, kSequenceLength),
                           .document_stride = options.document_stride,
                           .max_query_length = kMaxQueryLength,
                           .threads = threads_});
  const auto predictions =
      answer_squad(session_, data, features, model_.tokenizer,
                   {.prediction = {.n_best_size = std::max<int64_t>(options.top_k, 20),
                                   .max_answer_length = options.max_answer_length},
                    .threads = threads_});
  std::vector<std::vector<Answer>> answers;
  for (const SquadPrediction& prediction : predictions) {
    answers.push_back(answers_of(prediction, options.top_k));
  }
  return answers;
}

}  // namespace cloze::tasks

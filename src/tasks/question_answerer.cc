#include "tasks/question_answerer.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "tasks/squad/squad_answering.h"

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
    // The official stand-in where no span may be chosen is not part of the context.
    if (!candidate.text.empty() && candidate.bytes.begin == candidate.bytes.end) continue;
    answers.push_back({.text = candidate.text,
                       .probability = candidate.probability,
                       .start = static_cast<int64_t>(candidate.code_points.begin),
                       .end = static_cast<int64_t>(candidate.code_points.end)});
  }
  return answers;
}

}  // namespace

nlohmann::ordered_json answers_json(std::span<const Answer> answers) {
  auto list = nlohmann::ordered_json::array();
  for (const Answer& answer : answers) {
    list.push_back({{"text", answer.text},
                    {"probability", answer.probability},
                    {"start", answer.start},
                    {"end", answer.end}});
  }
  return {{"answers", std::move(list)}};
}

QuestionAnswerer::QuestionAnswerer(std::shared_ptr<const inference::PackedModel> model,
                                   int num_threads)
    : client_(std::move(model), num_threads) {
  client_.model().pretrained().require_head(models::HeadKind::kQuestionAnswering);
}

std::vector<std::vector<Answer>> QuestionAnswerer::answer(
    std::span<const QuestionAndContext> questions, const AnswerOptions& options) {
  const SquadData data = squad_data_of(questions, options.may_have_no_answer);
  const SquadFeatures features =
      make_squad_features(data, client_.model().tokenizer(),
                          {.max_sequence_length = std::min<int64_t>(
                               client_.model().config().max_position_embeddings, kSequenceLength),
                           .document_stride = options.document_stride,
                           .max_query_length = kMaxQueryLength,
                           .threads = client_.num_threads()});
  for (size_t i = 0; i < questions.size(); ++i) {
    const bool no_question = features.questions[i].empty();
    if (no_question || features.contexts[data.questions[i].context].ids.empty()) {
      throw_user_error("the {}{} is empty; give a question and a text that answers it",
                       no_question ? "question" : "context",
                       questions.size() == 1 ? "" : fmt::format(" of input {}", i + 1));
    }
  }
  const auto predictions = answer_squad(client_, data, features,
                                        {.n_best_size = std::max<int64_t>(options.top_k, 20),
                                         .max_answer_length = options.max_answer_length});
  std::vector<std::vector<Answer>> answers;
  for (const SquadPrediction& prediction : predictions) {
    answers.push_back(answers_of(prediction, options.top_k));
  }
  return answers;
}

}  // namespace cloze::tasks

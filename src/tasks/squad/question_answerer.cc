#include "tasks/squad/question_answerer.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "data/sequence.h"
#include "tasks/squad/squad_answering.h"

namespace cloze::tasks {
namespace {

constexpr int64_t kMaxQueryLength = 64;   // of the question, as in SQuAD
constexpr int64_t kSequenceLength = 384;  // of a window, if the model has the positions
constexpr int64_t kDocumentStride = 128;  // from window to window at most, as in SQuAD
constexpr int64_t kNBestSize = 20;        // that probabilities are shared among, as in SQuAD

// Short windows overlap too: otherwise no answer could span the border between two.
int64_t document_stride(int64_t sequence_length) {
  return std::clamp<int64_t>(sequence_length / 3, 1, kDocumentStride);
}

// Names one input of several; empty when there is only one.
std::string of_input(size_t index, size_t count) {
  return count == 1 ? "" : fmt::format(" of input {}", index + 1);
}

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

// Each question's own: those beside it must not change its answers or their probabilities.
std::vector<int64_t> n_best_sizes_of(std::span<const QuestionAndContext> questions) {
  std::vector<int64_t> sizes;
  for (const QuestionAndContext& one : questions) sizes.push_back(std::max(one.top_k, kNBestSize));
  return sizes;
}

void check_not_empty(const SquadData& data, const SquadFeatures& features) {
  for (size_t i = 0; i < data.questions.size(); ++i) {
    const bool no_question = features.questions[i].empty();
    if (no_question || features.contexts[data.questions[i].context].ids.empty()) {
      throw_user_error("the {}{} is empty; give a question and a text that answers it",
                       no_question ? "question" : "context", of_input(i, data.questions.size()));
    }
  }
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
                       .end = static_cast<int64_t>(candidate.code_points.end),
                       .bytes = candidate.bytes});
  }
  return answers;
}

}  // namespace

formats::Json answers_json(const Answers& answers) {
  auto list = formats::Json::array();
  for (const Answer& answer : answers.answers) {
    list.push_back({{"text", answer.text},
                    {"probability", answer.probability},
                    {"start", answer.start},
                    {"end", answer.end}});
  }
  formats::Json reply = {{"answers", std::move(list)}};
  add_truncation(reply, answers.question);
  add_unknown(reply, answers.unknown);
  return reply;
}

QuestionAnswerer::QuestionAnswerer(std::shared_ptr<const inference::PackedModel> model,
                                   int num_threads)
    : client_(std::move(model), models::HeadKind::kQuestionAnswering, num_threads) {}

// A long question is cut, but a model with few positions may have no room even for what is left.
SquadFeatures QuestionAnswerer::features_of(const SquadData& data) const {
  const int64_t positions = client_.model().config().max_position_embeddings;
  const int64_t most = positions - data::kPairBorders - 1;
  const int64_t length = std::min<int64_t>(positions, kSequenceLength);
  SquadFeatures features =
      make_squad_features(data, client_.model().tokenizer(),
                          {.max_sequence_length = length,
                           .document_stride = document_stride(length),
                           .max_query_length = std::clamp<int64_t>(most, 1, kMaxQueryLength),
                           .threads = client_.num_threads()});
  for (size_t i = 0; i < data.questions.size(); ++i) {
    if (std::min(features.question_tokens[i], kMaxQueryLength) <= most) continue;
    throw_user_error(
        "the question{} has {} tokens, the model has {} positions; shorten it to {} tokens",
        of_input(i, data.questions.size()), features.question_tokens[i], positions, most);
  }
  return features;
}

UnknownTokens QuestionAnswerer::unknown_of(const SquadData& data, const SquadFeatures& features,
                                           size_t question) const {
  const text::Tokenizer& tokenizer = client_.model().tokenizer();
  const size_t context = data.questions[question].context;
  UnknownTokens unknown;
  unknown.count(features.questions[question], tokenizer.vocabulary());
  unknown.count(features.contexts[context].ids, tokenizer.vocabulary());
  const std::string_view texts[] = {data.questions[question].question, data.contexts[context]};
  unknown.find_causes(texts, tokenizer);
  return unknown;
}

std::vector<Answers> QuestionAnswerer::answer(std::span<const QuestionAndContext> questions,
                                              const AnswerOptions& options) {
  const SquadData data = squad_data_of(questions, options.may_have_no_answer);
  const SquadFeatures features = features_of(data);
  check_not_empty(data, features);
  const auto predictions = answer_squad(client_, data, features,
                                        {.n_best_sizes = n_best_sizes_of(questions),
                                         .max_answer_length = options.max_answer_length,
                                         .ends_at_words = true});
  std::vector<Answers> all;
  for (size_t i = 0; i < questions.size(); ++i) {
    all.push_back({.answers = answers_of(predictions[i], questions[i].top_k),
                   .question = {.tokens = features.question_tokens[i],
                                .kept = std::ssize(features.questions[i])},
                   .unknown = unknown_of(data, features, i)});
  }
  return all;
}

}  // namespace cloze::tasks

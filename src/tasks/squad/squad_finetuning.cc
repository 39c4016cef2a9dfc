#include "tasks/squad/squad_finetuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "data/dataset.h"
#include "formats/xxh3.h"
#include "platform/files/atomic_file.h"
#include "tasks/squad/squad_answering.h"

namespace cloze::tasks {
namespace {

// The windows of SQuAD questions as a data set to train on. Sequences are made when asked for.
class SquadDataset final : public data::Dataset {
 public:
  SquadDataset(SquadData data, SquadFeatures features)
      : data_(std::move(data)), features_(std::move(features)) {}
  int64_t size() const override { return std::ssize(features_.windows); }
  data::Sample sample(int64_t index, int64_t /*epoch*/) const override {
    return squad_sample(data_, features_, features_.windows[static_cast<size_t>(index)]);
  }
  std::string fingerprint() const override {
    return fmt::format("squad {} questions, {} windows {}", data_.questions.size(),
                       features_.windows.size(), data::sample_digest(*this));
  }

 private:
  SquadData data_;
  SquadFeatures features_;
};

}  // namespace

bool SquadFinetuning::can_be_scored() const {
  return std::ranges::any_of(dev_.data.questions, [](const SquadQuestion& one) {
    return one.has_answers() || one.is_impossible;
  });
}

std::shared_ptr<const data::Dataset> SquadFinetuning::training_data() {
  Questions train = load(options_.train_file, true);
  if (train.features.windows.empty()) {
    throw_user_error("{} has nothing to train on: no answer of it lies in the words of its context",
                     options_.train_file);
  }
  return std::make_shared<SquadDataset>(std::move(train.data), std::move(train.features));
}

double SquadFinetuning::evaluate(inference::InferenceClient& client, int64_t step) {
  const SquadScores scores = score(answers(client));
  output_.notice(
      fmt::format("step {}: exact {:.2f} f1 {:.2f}", step, scores.all.exact, scores.all.f1));
  return scores.all.f1;
}

std::string SquadFinetuning::evaluated_on() const {
  const SquadFeatureOptions& features = options_.features;
  const SquadPredictionOptions& prediction = options_.prediction;
  formats::Xxh3Digest digest;
  for (const std::string& context : dev_.data.contexts) digest.update(context + "\n");
  for (const SquadQuestion& one : dev_.data.questions) {
    digest.update(fmt::format("{}\n{}\n{}\n", one.id, one.question, one.context));
    for (const SquadAnswer& answer : one.answers) digest.update(answer.text + "\n");
  }
  return fmt::format("SQuAD {} {}, style {} of {}, {} and {} tokens, answers {} of {} tokens, {}",
                     options_.version_2_with_negative ? 2 : 1, digest.hex(),
                     static_cast<int>(features.style), features.max_sequence_length,
                     features.document_stride, features.max_query_length, prediction.n_best_size,
                     prediction.max_answer_length, prediction.null_score_diff_threshold);
}

Scores SquadFinetuning::finish(inference::InferenceClient& client,
                               const std::filesystem::path& folder) {
  const auto predictions = answers(client);
  if (phases_.prediction) {
    write_squad_predictions(folder, dev_.data, predictions);
    output_.notice(fmt::format("wrote {}", (folder / "predictions.json").string()));
  }
  if (!phases_.evaluation) return {};
  const SquadScores scores = score(predictions);
  if (scores.unanswered > 0) {
    output_.notice(
        fmt::format("note: {} questions without answers are not scored", scores.unanswered));
  }
  const std::string text = squad_scores_json(scores, dev_.data.is_version_2);
  output_.result(text);
  platform::write_file_atomically(folder / "eval_results.json", text + "\n");
  note_no_answers(predictions);
  write_example(predictions, folder);
  return {{"exact", scores.all.exact}, {"f1", scores.all.f1}};
}

void SquadFinetuning::write_example(const std::vector<SquadPrediction>& answers,
                                    const std::filesystem::path& folder) const {
  for (size_t q = 0; q < answers.size(); ++q) {
    const SquadQuestion& asked = dev_.data.questions[q];
    const auto is_given = [&](const SquadAnswer& right) { return right.text == answers[q].text(); };
    if (answers[q].text().empty() || std::ranges::none_of(asked.answers, is_given)) continue;
    return write_page_example(
        folder, {{"question", asked.question}, {"context", dev_.data.contexts[asked.context]}},
        answers[q].text());
  }
}

// The commonest answer of SQuAD 2.0 is none.
void SquadFinetuning::note_no_answers(const std::vector<SquadPrediction>& answers) const {
  const auto has_text = [](const SquadPrediction& one) { return !one.text().empty(); };
  const auto has_answer = [](const SquadQuestion& one) { return one.has_answers(); };
  if (std::ranges::any_of(answers, has_text)) return;
  if (std::ranges::none_of(dev_.data.questions, has_answer)) return;
  output_.notice(fmt::format(
      "note: the model gives none of the {} questions an answer; it has not learned to find any: "
      "train longer, change the learning rate, or start from a model that was trained longer",
      answers.size()));
}

SquadFinetuning::Questions SquadFinetuning::load(const std::string& path, bool with_labels) const {
  Questions questions{.data = read_squad(path)};
  if (questions.data.is_version_2 && !options_.version_2_with_negative) {
    throw_user_error("{} has questions without answer (SQuAD 2.0); add version_2_with_negative",
                     path);
  }
  questions.data.is_version_2 = options_.version_2_with_negative;
  const std::vector<std::string_view> texts = questions.data.texts();
  output_.examine(path, texts);
  SquadFeatureOptions options = options_.features;
  options.with_labels = with_labels;
  questions.features = make_squad_features(questions.data, tokenizer_, options);
  output_.notice(fmt::format("{}: {} questions, {} features{}", path,
                             questions.data.questions.size(), questions.features.windows.size(),
                             with_labels ? fmt::format(", {} answers are not where the file says",
                                                       questions.features.misplaced.size())
                                         : ""));
  note_rowless(tokenizer_, path, texts, output_);
  return questions;
}

std::vector<SquadPrediction> SquadFinetuning::answers(inference::InferenceClient& client) const {
  const auto watched = output_.watch(client, std::ssize(dev_.features.windows));
  return answer_squad(client, dev_.data, dev_.features, options_.prediction);
}

SquadScores SquadFinetuning::score(const std::vector<SquadPrediction>& answers) const {
  SquadPredictions texts;
  NoAnswerProbabilities odds;
  for (size_t q = 0; q < answers.size(); ++q) {
    const std::string& id = dev_.data.questions[q].id;
    texts[id] = answers[q].text();
    if (answers[q].null_odds) odds[id] = *answers[q].null_odds;
  }
  if (!dev_.data.is_version_2) return score_squad_1(dev_.data, texts);
  // The threshold has already been applied to the answers; the odds are for finding the best
  // threshold.
  return score_squad_2(dev_.data, texts, &odds, std::numeric_limits<double>::infinity());
}

}  // namespace cloze::tasks

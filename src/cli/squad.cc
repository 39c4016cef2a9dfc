#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/finetune_options.h"
#include "cli/finetune_runs.h"
#include "cli/inference_display.h"
#include "platform/file.h"
#include "tasks/squad/squad_answering.h"
#include "tasks/squad/squad_dataset.h"
#include "tasks/squad/squad_score.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

struct SquadOptions : FinetuneOptions {
  std::string train_file;
  std::string predict_file;
  bool version_2_with_negative = false;
  tasks::SquadFeatureOptions features;
  tasks::SquadPredictionOptions prediction;

  SquadOptions() {
    seq_length = features.max_sequence_length;
    epochs = 2.0;
    training.schedule.base_learning_rate = 3e-5;
  }
};

void add_options(OptionTable& table, SquadOptions& o) {
  const std::vector<std::string> styles{"google", "hf"};
  table.begin_group("Task");
  table.add("train_file", &o.train_file, "train-v1.1.json, train-v2.0.json");
  table.add("predict_file", &o.predict_file,
            "dev-v1.1.json, dev-v2.0.json: answered, and scored where it has answers");
  table.add("version_2_with_negative", &o.version_2_with_negative,
            "SQuAD 2.0: there may be no answer");
  table.add("doc_stride", &o.features.document_stride, "Tokens from a window to the next",
            {.minimum = 1});
  table.add("max_query_length", &o.features.max_query_length,
            "Tokens of the question, the rest is cut", {.minimum = 1});
  table.add("feature_style", enumerated(o.features.style, styles),
            "Windows and labels as in run_squad.py or in transformers' run_qa.py",
            {.choices = styles});
  table.add("n_best_size", &o.prediction.n_best_size, "Answers kept for a question",
            {.minimum = 1});
  table.add("max_answer_length", &o.prediction.max_answer_length, "Tokens of an answer",
            {.minimum = 1});
  table.add("null_score_diff_threshold", &o.prediction.null_score_diff_threshold,
            "2.0: no answer where its score is better by more than this");
  add_finetune_options(table, o, "SQuAD");
}

// Questions that are answered, and their windows.
struct Questions {
  tasks::SquadData data;
  tasks::SquadFeatures features;
};

bool has_answers(const tasks::SquadData& data) {
  for (const tasks::SquadQuestion& question : data.questions) {
    if (!question.answers.empty()) return true;
  }
  return false;
}

class SquadTask : public FinetuneTask {
 public:
  SquadTask(SquadOptions& options, const OptionTable& table)
      : options_(options), table_(table), model_(start_model(options, table)) {}

  void run() {
    if (options_.compile_only) return print_plan(options_, model_, head());
    const char* threshold = "null_score_diff_threshold";
    if (!options_.version_2_with_negative && table_.is_asked_for(threshold)) {
      throw_user_error("{} is for version_2_with_negative; leave it out, or set that", threshold);
    }
    const bool can_predict = !options_.predict_file.empty();
    if (!can_predict && options_.train_file.empty()) {
      throw_user_error("there is nothing to do; give train_file, predict_file or both");
    }
    phases_ = phases_of(options_, {.training = !options_.train_file.empty(),
                                   .evaluation = can_predict,
                                   .prediction = can_predict});
    if (phases_.evaluation || phases_.prediction) dev_ = load(options_.predict_file, false);
    if (phases_.evaluation && !has_answers(dev_.data)) {
      if (options_.do_evaluation) {
        throw_user_error("do_evaluation is set, but {} has no answers", options_.predict_file);
      }
      phases_.evaluation = false;
    }
    finetune({options_, table_, model_, phases_}, *this);
  }

  models::BertHead head() const override { return {.kind = models::HeadKind::kQuestionAnswering}; }

  std::shared_ptr<const data::Dataset> training_data() override {
    Questions train = load(options_.train_file, true);
    if (train.features.windows.empty()) {
      throw_user_error("{} gives nothing to train on: no context has words and an answer in them",
                       options_.train_file);
    }
    return std::make_shared<tasks::SquadDataset>(std::move(train.data), std::move(train.features));
  }

  double evaluate(inference::InferenceClient& client, int64_t step) override {
    const tasks::SquadScores scores = score(answers(client));
    fmt::print(stderr, "step {}: exact {:.2f} f1 {:.2f}\n", step, scores.all.exact, scores.all.f1);
    return scores.all.f1;
  }

  Scores finish(inference::InferenceClient& client, const fs::path& folder) override {
    const auto predictions = answers(client);
    if (phases_.prediction) {
      tasks::write_squad_predictions(folder, dev_.data, predictions);
      fmt::print(stderr, "wrote {}\n", (folder / "predictions.json").string());
    }
    if (!phases_.evaluation) return {};
    const tasks::SquadScores scores = score(predictions);
    const std::string text = tasks::squad_scores_json(scores, dev_.data.is_version_2);
    fmt::print("{}\n", text);
    platform::write_file_atomically(folder / "eval_results.json", text + "\n");
    return {{"exact", scores.all.exact}, {"f1", scores.all.f1}};
  }

 private:
  Questions load(const std::string& path, bool with_labels) const {
    Questions questions{.data = tasks::read_squad(path)};
    if (questions.data.is_version_2 && !options_.version_2_with_negative) {
      throw_user_error("{} has questions without answer (SQuAD 2.0); add version_2_with_negative",
                       path);
    }
    questions.data.is_version_2 = options_.version_2_with_negative;
    tasks::SquadFeatureOptions options = options_.features;
    options.max_sequence_length = options_.seq_length;
    options.with_labels = with_labels;
    options.threads = engine::resolved_threads(options_.training.step.compile.num_threads);
    questions.features = tasks::make_squad_features(questions.data, model_.tokenizer, options);
    fmt::print(stderr, "{}: {} questions, {} features{}\n", path, questions.data.questions.size(),
               questions.features.windows.size(),
               with_labels ? fmt::format(", {} answers not where the file says",
                                         questions.features.misplaced.size())
                           : "");
    std::vector<std::string_view> texts(questions.data.contexts.begin(),
                                        questions.data.contexts.end());
    for (const tasks::SquadQuestion& one : questions.data.questions) texts.push_back(one.question);
    print_rowless(model_.tokenizer, path, texts);
    return questions;
  }

  std::vector<tasks::SquadPrediction> answers(inference::InferenceClient& client) const {
    const InferenceDisplay display(client, std::ssize(dev_.features.windows));
    return tasks::answer_squad(client, dev_.data, dev_.features, options_.prediction);
  }

  tasks::SquadScores score(const std::vector<tasks::SquadPrediction>& answers) const {
    tasks::SquadPredictions texts;
    tasks::NoAnswerProbabilities odds;
    for (size_t q = 0; q < answers.size(); ++q) {
      const std::string& id = dev_.data.questions[q].id;
      texts[id] = answers[q].text();
      if (answers[q].null_odds) odds[id] = *answers[q].null_odds;
    }
    if (!dev_.data.is_version_2) return tasks::score_squad_1(dev_.data, texts);
    // The threshold has been applied to the answers; the odds are for the search of the best.
    return tasks::score_squad_2(dev_.data, texts, &odds, std::numeric_limits<double>::infinity());
  }

  SquadOptions& options_;
  const OptionTable& table_;
  StartModel model_;
  Phases phases_;
  Questions dev_;
};

void run(SquadOptions& options, OptionTable& table) {
  settle_finetune_options(table, options);
  SquadTask(options, table).run();
}

}  // namespace

void add_squad(Subcommand program) {
  program.add_command("squad", "Fine-tune on SQuAD, answer and score", add_options, run);
}

}  // namespace cloze::cli

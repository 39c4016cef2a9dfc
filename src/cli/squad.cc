#include "cli/squad.h"

#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "base/error.h"
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
  int64_t doc_stride = 128;
  int64_t max_query_length = 64;
  std::string feature_style = "google";
  tasks::SquadPredictionOptions prediction;

  SquadOptions() {
    seq_length = 384;
    epochs = 2.0;
    base_learning_rate = 3e-5;
  }
};

void add_squad_options(OptionTable& table, SquadOptions& o) {
  const std::string group = "Task";
  table.add({.name = "train_file",
             .target = &o.train_file,
             .help = "train-v1.1.json, train-v2.0.json",
             .group = group});
  table.add({.name = "predict_file",
             .target = &o.predict_file,
             .help = "dev-v1.1.json, dev-v2.0.json: answered, and scored where it has answers",
             .group = group});
  table.add({.name = "version_2_with_negative",
             .target = &o.version_2_with_negative,
             .help = "SQuAD 2.0: there may be no answer",
             .group = group});
  table.add({.name = "doc_stride",
             .target = &o.doc_stride,
             .help = "Tokens from a window to the next",
             .group = group,
             .minimum = 1});
  table.add({.name = "max_query_length",
             .target = &o.max_query_length,
             .help = "Tokens of the question, the rest is cut",
             .group = group,
             .minimum = 1});
  table.add({.name = "feature_style",
             .target = &o.feature_style,
             .help = "Windows and labels as in run_squad.py or in transformers' run_qa.py",
             .group = group,
             .choices = {"google", "hf"}});
  table.add({.name = "n_best_size",
             .target = &o.prediction.n_best_size,
             .help = "Answers kept for a question",
             .group = group,
             .minimum = 1});
  table.add({.name = "max_answer_length",
             .target = &o.prediction.max_answer_length,
             .help = "Tokens of an answer",
             .group = group,
             .minimum = 1});
  table.add({.name = "null_score_diff_threshold",
             .target = &o.prediction.null_score_diff_threshold,
             .help = "2.0: no answer where its score is better by more than this",
             .group = group});
}

struct Command {
  SquadOptions options;
  OptionTable table;

  Command() {
    add_squad_options(table, options);
    add_finetune_options(table, options, "SQuAD");
  }
  void resolve() { resolve_finetune_options(table, options); }
};

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
  int threads() const { return engine::resolved_threads(options_.threads); }

  Questions load(const std::string& path, bool with_labels) const {
    Questions questions{.data = tasks::read_squad(path)};
    if (questions.data.is_version_2 && !options_.version_2_with_negative) {
      throw_user_error("{} has questions without answer (SQuAD 2.0); add version_2_with_negative",
                       path);
    }
    questions.data.is_version_2 = options_.version_2_with_negative;
    questions.features =
        tasks::make_squad_features(questions.data, model_.tokenizer,
                                   {.max_sequence_length = options_.seq_length,
                                    .document_stride = options_.doc_stride,
                                    .max_query_length = options_.max_query_length,
                                    .style = tasks::squad_style_from(options_.feature_style),
                                    .with_labels = with_labels,
                                    .threads = threads()});
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

}  // namespace

void add_squad(Subcommand parent) {
  Subcommand app = parent.add_subcommand("squad", "Fine-tune on SQuAD, answer and score");
  const auto command = std::make_shared<Command>();
  command->table.add_flags(app.app());
  app.set_action([command] {
    command->resolve();
    SquadTask(command->options, command->table).run();
  });
}

}  // namespace cloze::cli

#include "cli/glue.h"

#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "base/error.h"
#include "cli/finetune_options.h"
#include "cli/finetune_runs.h"
#include "cli/training_run.h"
#include "formats/json.h"
#include "inference/inference_session.h"
#include "platform/file.h"
#include "tasks/class_logits.h"
#include "tasks/glue/glue_features.h"
#include "tasks/glue/glue_files.h"
#include "tasks/glue/glue_score.h"
#include "tasks/glue/glue_submission.h"
#include "tasks/sample_dataset.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;
using tasks::GlueSplit;
using tasks::GlueTask;

struct GlueOptions : FinetuneOptions {
  std::string task_name;
  std::string data_dir;
  double glue_dropout_prob = 0.1;
};

struct Command {
  GlueOptions options;
  OptionTable table;

  Command() {
    table.add({.name = "task_name",
               .target = &options.task_name,
               .help = "CoLA, SST-2, MRPC, STS-B, QQP, MNLI, MNLI-mm, QNLI, RTE, WNLI or AX",
               .group = "Task"});
    table.add({.name = "data_dir",
               .target = &options.data_dir,
               .help = "Folder of the task's TSV files, or the one above it",
               .group = "Task"});
    add_finetune_options(table, options, {"GLUE"});
    table.add({.name = "glue_dropout_prob",
               .target = &options.glue_dropout_prob,
               .help = "Dropout before the classifier",
               .group = "Model",
               .minimum = 0,
               .maximum = 0.9999999});
  }

  void resolve() {
    table.resolve();
    settle_rivals(options, table);
    validate(options);
    for (const std::string& note : table.notes()) fmt::print(stderr, "note: {}\n", note);
    if (options.task_name.empty()) throw_user_error("task_name is missing; see --help");
    if (options.data_dir.empty())
      throw_user_error("data_dir is missing; name the TSV files' folder");
  }
};

// A split as samples, with its labels where it has them.
struct Split {
  std::vector<data::Sample> samples;
  std::vector<double> labels;
};

// The dev and test files that go with a task: MNLI's are of three tasks.
std::vector<const GlueTask*> tasks_of(const GlueTask& task) {
  if (task.name != "MNLI") return {&task};
  return {&task, &tasks::glue_task("MNLI-mm"), &tasks::glue_task("AX")};
}

bool has_file(const fs::path& folder, const GlueTask& task, GlueSplit split) {
  try {
    tasks::glue_file(folder, task, split);
    return true;
  } catch (const UserError&) {
    return false;
  }
}

// One task's run: its data, and the model it starts from.
class GlueRun {
 public:
  GlueRun(GlueOptions& options, const OptionTable& table)
      : options_(options),
        table_(table),
        task_(tasks::glue_task(options.task_name)),
        model_(start_model(options, table)),
        head_{.kind = models::HeadKind::kSequenceClassification,
              .classifier_dropout = options.glue_dropout_prob} {
    for (const std::string_view label : task_.labels) head_.labels.emplace_back(label);
    if (task_.is_regression()) head_.labels = {"score"};
  }

  void run() {
    const Phases phases = phases_of(options_, {.training = has(GlueSplit::kTrain),
                                               .evaluation = has(GlueSplit::kDev),
                                               .prediction = has(GlueSplit::kTest)});
    finetune(
        options_, phases,
        {.train = [&] { return train(phases); },
         .finish = [&](const fs::path& checkpoint,
                       const fs::path& folder) { return finish(phases, checkpoint, folder); }});
  }

 private:
  bool has(GlueSplit split) const { return has_file(options_.data_dir, task_, split); }

  Split load(const GlueTask& task, GlueSplit split) const {
    const fs::path path = tasks::glue_file(options_.data_dir, task, split);
    const auto examples = tasks::read_glue(path, task);
    tasks::GlueFeatures features = tasks::make_glue_features(
        examples, task, model_.tokenizer,
        {.max_sequence_length = options_.seq_length,
         .threads = engine::resolved_threads(static_cast<int>(options_.threads))});
    fmt::print(stderr, "{}: {} examples, {} cut to seq_length {}\n", path.string(), examples.size(),
               features.num_cut, options_.seq_length);
    Split result{.samples = std::move(features.samples)};
    for (const tasks::GlueExample& example : examples) {
      if (example.label) result.labels.push_back(*example.label);
    }
    return result;
  }

  inference::InferenceSession inference_session() const {
    return {model_.config, head_, {.compile = {.num_threads = static_cast<int>(options_.threads)}}};
  }

  std::vector<double> predictions(inference::InferenceSession& session,
                                  const std::vector<data::Sample>& samples) const {
    return tasks::class_predictions(
        tasks::class_logits(session, samples, std::ssize(head_.labels)));
  }

  train::TrainingState train(const Phases& phases) {
    Split train = load(task_, GlueSplit::kTrain);
    const auto size = std::ssize(train.samples);
    const int64_t steps = training_steps(options_, size, 1);
    train::TrainingOptions run = training_options(options_, steps);
    run.step.model = model_.config;
    run.step.head = head_;
    run.dataset = std::make_shared<tasks::SampleDataset>(std::move(train.samples));
    run.tokens = model_.tokens();
    run.lower_case = model_.lower_case;
    run.extra_files.push_back({"training_config.json", formats::json_text(table_.values())});
    if (phases.evaluation) {
      auto dev = std::make_shared<Split>(load(task_, GlueSplit::kDev));
      auto session = std::make_shared<inference::InferenceSession>(inference_session());
      run.steps_per_evaluation = steps_per_evaluation(options_, size, steps);
      run.evaluate = [this, dev, session](engine::Session& trained, int64_t step) {
        session->copy_parameters(trained);
        const auto values = predictions(*session, dev->samples);
        fmt::print(stderr, "step {}: {}\n", step,
                   tasks::glue_scores_json(task_, values, dev->labels));
        return tasks::glue_metric(task_.metrics.front(), values, dev->labels);
      };
    }
    return run_training(std::move(run), options_);
  }

  // Scores and predictions with the weights of a checkpoint.
  Scores finish(const Phases& phases, const fs::path& checkpoint, const fs::path& folder) {
    Scores scores;
    if (!phases.evaluation && !phases.prediction) return scores;
    inference::InferenceSession session = inference_session();
    session.load(checkpoint);
    fs::create_directories(folder);
    for (const GlueTask* task : tasks_of(task_)) {
      if (phases.evaluation && has_file(options_.data_dir, *task, GlueSplit::kDev)) {
        evaluate(session, *task, folder, scores);
      }
      if (phases.prediction && has_file(options_.data_dir, *task, GlueSplit::kTest)) {
        const Split test = load(*task, GlueSplit::kTest);
        const fs::path path = folder / tasks::glue_submission_name(*task);
        tasks::write_glue_submission(path, *task, predictions(session, test.samples));
        fmt::print(stderr, "wrote {}\n", path.string());
      }
    }
    return scores;
  }

  void evaluate(inference::InferenceSession& session, const GlueTask& task, const fs::path& folder,
                Scores& scores) {
    const Split dev = load(task, GlueSplit::kDev);
    const std::vector<double> values = predictions(session, dev.samples);
    const std::string text = tasks::glue_scores_json(task, values, dev.labels);
    fmt::print("{} {}\n", task.name, text);
    platform::write_file_atomically(folder / fmt::format("eval_results_{}.json", task.name),
                                    text + "\n");
    for (const tasks::GlueMetric metric : task.metrics) {
      scores[fmt::format("{} {}", task.name, tasks::name_of(metric))] =
          100.0 * tasks::glue_metric(metric, values, dev.labels);
    }
  }

  GlueOptions& options_;
  const OptionTable& table_;
  const GlueTask& task_;
  StartModel model_;
  models::BertHead head_;
};

}  // namespace

void add_glue(Subcommand parent) {
  Subcommand app = parent.add_subcommand("glue", "Fine-tune, score and predict a GLUE task");
  const auto command = std::make_shared<Command>();
  command->table.add_flags(app.app());
  app.set_action([command] {
    command->resolve();
    GlueRun(command->options, command->table).run();
  });
}

}  // namespace cloze::cli

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/finetune_options.h"
#include "cli/finetune_runs.h"
#include "cli/inference_display.h"
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
  models::BertHead head{.kind = models::HeadKind::kSequenceClassification};
};

void add_options(OptionTable& table, GlueOptions& o) {
  table.begin_group("Task");
  table.add("task_name", &o.task_name,
            "CoLA, SST-2, MRPC, STS-B, QQP, MNLI, MNLI-mm, QNLI, RTE, WNLI or AX");
  table.add("data_dir", &o.data_dir, "Folder of the task's TSV files, or the one above it");
  add_finetune_options(table, o, "GLUE", "task_name says which of its tasks");
  table.add("glue_dropout_prob", &o.head.classifier_dropout, "Dropout before the classifier",
            {.minimum = 0, .maximum = 0.9999999});
}

// A file as samples, with its labels where it has them.
struct Part {
  const GlueTask* task = nullptr;
  GlueSplit split = GlueSplit::kTrain;
  std::vector<data::Sample> samples;
  std::vector<double> labels;
};

// The dev and test files that go with a task: MNLI's are of three tasks.
std::vector<const GlueTask*> tasks_of(const GlueTask& task) {
  if (task.name != "MNLI") return {&task};
  return {&task, &tasks::glue_task("MNLI-mm"), &tasks::glue_task("AX")};
}

// A task: its data, and the model it starts from.
class GlueFinetuneTask : public FinetuneTask {
 public:
  GlueFinetuneTask(GlueOptions& options, const OptionTable& table)
      : options_(options),
        table_(table),
        task_(tasks::glue_task(options.task_name)),
        model_(start_model(options, table)),
        head_(options.head) {
    head_.task = task_.name;
    for (const std::string_view label : task_.labels) head_.labels.emplace_back(label);
    if (task_.is_regression()) head_.labels = {"score"};
  }

  void run() {
    if (options_.compile_only) return print_plan(options_, model_, head());
    const Phases possible{.training = has(task_, GlueSplit::kTrain),
                          .evaluation = has(task_, GlueSplit::kDev),
                          .prediction = has(task_, GlueSplit::kTest)};
    if (!possible.training && !possible.evaluation && !possible.prediction) {
      throw_user_error(
          "there is nothing to do: {} holds no TSV file of {}; name the folder that does, or the "
          "one above it",
          options_.data_dir, task_.name);
    }
    phases_ = phases_of(options_, possible);
    compare_classes();
    compare_tasks();
    // What is wrong with these is said before hours of training.
    if (phases_.evaluation) load_parts(GlueSplit::kDev);
    if (phases_.prediction) load_parts(GlueSplit::kTest);
    finetune({options_, table_, model_, phases_}, *this);
  }

  models::BertHead head() const override { return head_; }
  std::string fresh_prefix() const override { return has_its_classes_ ? "" : "classifier."; }

  std::shared_ptr<const data::Dataset> training_data() override {
    return std::make_shared<tasks::SampleDataset>(load(task_, GlueSplit::kTrain).samples);
  }

  double evaluate(inference::InferenceClient& client, int64_t step) override {
    const Part& dev = parts_.front();
    const std::vector<double> values = predictions(client, dev.samples);
    fmt::print(stderr, "step {}: {}\n", step, tasks::glue_scores_json(task_, values, dev.labels));
    return tasks::glue_metric(task_.metrics.front(), values, dev.labels);
  }

  Scores finish(inference::InferenceClient& client, const fs::path& folder) override {
    Scores scores;
    for (const Part& part : parts_) {
      const std::vector<double> values = predictions(client, part.samples);
      if (part.split == GlueSplit::kDev) {
        report(part, values, folder, scores);
      } else {
        const fs::path path = folder / tasks::glue_submission_name(*part.task);
        tasks::write_glue_submission(path, *part.task, values);
        fmt::print(stderr, "wrote {}\n", path.string());
      }
    }
    return scores;
  }

 private:
  // A classifier of another number of classes, or of these in another order, is of no use here.
  // Their names alone say little: for 0 and 1 others have "negative" and "positive".
  void compare_classes() {
    const std::vector<std::string>& theirs = model_.head.labels;
    if (model_.head.kind != models::HeadKind::kSequenceClassification) return;
    const bool is_reordered =
        theirs != head_.labels && std::ranges::is_permutation(theirs, head_.labels);
    if (theirs.size() == head_.labels.size() && !is_reordered) return;
    const std::string classes =
        fmt::format("the start model's classes are [{}], those of {} are [{}]",
                    fmt::join(theirs, ", "), task_.name, fmt::join(head_.labels, ", "));
    if (!phases_.training) throw_user_error("{}; train it on the task", classes);
    fmt::print(stderr, "note: {}; the classifier starts afresh\n", classes);
    has_its_classes_ = false;
  }

  // Classes may have the same names, and mean another thing.
  void compare_tasks() {
    const std::string& theirs = model_.head.task;
    if (theirs.empty() || tasks::has_classifier_of(task_, theirs)) return;
    if (!phases_.training) {
      throw_user_error(
          "the start model was trained on {}, not on {}; train it, or give --task-name {}", theirs,
          task_.name, theirs);
    }
    fmt::print(stderr, "note: the start model was trained on {}; the classifier starts afresh\n",
               theirs);
    has_its_classes_ = false;
  }

  bool has(const GlueTask& task, GlueSplit split) const {
    return tasks::find_glue_file(options_.data_dir, task, split).has_value();
  }

  void load_parts(GlueSplit split) {
    for (const GlueTask* task : tasks_of(task_)) {
      if (has(*task, split)) parts_.push_back(load(*task, split));
    }
  }

  Part load(const GlueTask& task, GlueSplit split) const {
    const fs::path path = tasks::glue_file(options_.data_dir, task, split);
    std::vector<int64_t> short_lines;
    const bool may_be_short = split == GlueSplit::kTrain && task.has_short_lines;
    const auto examples = tasks::read_glue(path, task, split != GlueSplit::kTest,
                                           may_be_short ? &short_lines : nullptr);
    if (!short_lines.empty()) {
      fmt::print(stderr, "note: {}: {} lines that lack columns were left out, the first is {}\n",
                 path.string(), short_lines.size(), short_lines[0]);
    }
    tasks::GlueFeatures features = tasks::make_glue_features(
        examples, task, model_.tokenizer,
        {.max_sequence_length = options_.seq_length,
         .threads = engine::resolved_threads(options_.training.step.compile.num_threads)});
    fmt::print(stderr, "{}: {} examples, {} cut to seq_length {}\n", path.string(), examples.size(),
               features.num_cut, options_.seq_length);
    std::vector<std::string_view> texts;
    for (const tasks::GlueExample& example : examples) {
      texts.push_back(example.first);
      texts.push_back(example.second);
    }
    print_rowless(model_.tokenizer, path.string(), texts);
    Part part{.task = &task, .split = split, .samples = std::move(features.samples)};
    for (const tasks::GlueExample& example : examples) {
      if (example.label) part.labels.push_back(*example.label);
    }
    return part;
  }

  std::vector<double> predictions(inference::InferenceClient& client,
                                  const std::vector<data::Sample>& samples) const {
    const InferenceDisplay display(client, std::ssize(samples));
    return tasks::class_predictions(tasks::class_logits(client, samples));
  }

  static void report(const Part& part, const std::vector<double>& values, const fs::path& folder,
                     Scores& scores) {
    const GlueTask& task = *part.task;
    const std::string text = tasks::glue_scores_json(task, values, part.labels);
    fmt::print("{} {}\n", task.name, text);
    platform::write_file_atomically(folder / fmt::format("eval_results_{}.json", task.name),
                                    text + "\n");
    for (const tasks::GlueMetric metric : task.metrics) {
      scores[fmt::format("{} {}", task.name, tasks::name_of(metric))] =
          100.0 * tasks::glue_metric(metric, values, part.labels);
    }
  }

  GlueOptions& options_;
  const OptionTable& table_;
  const GlueTask& task_;
  StartModel model_;
  models::BertHead head_;
  bool has_its_classes_ = true;  // the start model, if it is a classifier
  Phases phases_;
  std::vector<Part> parts_;  // what is scored, the task's own dev data first; what is predicted
};

void run(GlueOptions& options, OptionTable& table) {
  settle_finetune_options(table, options);
  if (options.task_name.empty()) throw_user_error("task_name is missing; see --help");
  if (options.data_dir.empty()) throw_user_error("data_dir is missing; name the TSV files' folder");
  GlueFinetuneTask(options, table).run();
}

}  // namespace

void add_glue(Subcommand program) {
  program.add_command("glue", "Fine-tune, score and predict a GLUE task", add_options, run);
}

}  // namespace cloze::cli

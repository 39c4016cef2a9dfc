#include "tasks/glue/glue_finetuning.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "data/dataset.h"
#include "platform/files/atomic_file.h"
#include "tasks/class_weights.h"
#include "tasks/glue/glue_score.h"
#include "tasks/sample_dataset.h"
#include "tasks/text_classifier.h"

namespace cloze::tasks {
namespace {

namespace fs = std::filesystem;

// The task whose file of that split a run reads: AX has a test file only, and is trained on MNLI.
const GlueTask& source_of(const GlueTask& task, GlueSplit split) {
  return task.name == "AX" && split != GlueSplit::kTest ? glue_task("MNLI") : task;
}

// The dev and test files that go with a task: MNLI's are of three tasks.
std::vector<const GlueTask*> tasks_of(const GlueTask& task, GlueSplit split) {
  if (task.name != "MNLI") return {&source_of(task, split)};
  return {&task, &glue_task("MNLI-mm"), &glue_task("AX")};
}

// The share of examples that have a label, in percent.
double percent_with(double label, const std::vector<double>& labels) {
  return 100.0 * static_cast<double>(std::ranges::count(labels, label)) /
         static_cast<double>(labels.size());
}

// A model that has learned nothing but which class is common looks as if it had a fair score.
std::string one_class_note(const GlueTask& task, const std::vector<double>& values,
                           const std::vector<double>& labels) {
  const auto is_same = [](const std::vector<double>& all) {
    return all.empty() || std::ranges::count(all, all.front()) == std::ssize(all);
  };
  if (task.is_regression() || is_same(labels) || !is_same(values)) return "";
  return fmt::format(
      "note: the model gives all {} examples of {} the class {}, which {:.1f} % of them have; it "
      "has not learned to tell them apart: train longer, change the learning rate, or start from "
      "a model that was trained longer",
      values.size(), task.name, task.labels[static_cast<size_t>(values.front())],
      percent_with(values.front(), labels));
}

// All first texts, then all second ones.
std::vector<std::string_view> texts_of(const std::vector<GlueExample>& examples) {
  std::vector<std::string_view> texts;
  for (const GlueExample& example : examples) texts.push_back(example.first);
  for (const GlueExample& example : examples) texts.push_back(example.second);
  return texts;
}

}  // namespace

GlueFinetuning::GlueFinetuning(GlueFinetuningOptions options, const text::Tokenizer& tokenizer,
                               TaskOutput output)
    : options_(std::move(options)),
      task_(glue_task(options_.task_name)),
      tokenizer_(tokenizer),
      output_(std::move(output)) {
  models::BertHead& head = options_.head;
  head.task = task_.name;
  for (const std::string_view label : task_.labels) head.labels.emplace_back(label);
  if (task_.is_regression()) head.labels = {"score"};
}

FinetuningPhases GlueFinetuning::possible_phases() const {
  const auto has_part = [&](GlueSplit split) {
    return std::ranges::any_of(tasks_of(task_, split),
                               [&](const GlueTask* part) { return has(*part, split); });
  };
  const FinetuningPhases possible{
      .training = has(source_of(task_, GlueSplit::kTrain), GlueSplit::kTrain),
      .evaluation = has_part(GlueSplit::kDev),
      .prediction = has_part(GlueSplit::kTest)};
  if (!possible.training && !possible.evaluation && !possible.prediction) {
    throw_user_error(
        "there is nothing to do: {} holds no TSV file of {}; name the folder that does, or the "
        "one above it",
        options_.data_dir, task_.name);
  }
  return possible;
}

void GlueFinetuning::prepare(const models::BertHead& start, const FinetuningPhases& phases) {
  compare_classes(start, phases.training);
  compare_tasks(start, phases.training);
  // Errors in these are said before hours of training.
  if (phases.evaluation) load_parts(GlueSplit::kDev);
  if (phases.prediction) load_parts(GlueSplit::kTest);
}

std::shared_ptr<const data::Dataset> GlueFinetuning::training_data() {
  Part train = load(source_of(task_, GlueSplit::kTrain), GlueSplit::kTrain);
  if (!task_.is_regression()) weigh_classes(train);
  return std::make_shared<SampleDataset>(std::move(train.samples));
}

void GlueFinetuning::weigh_classes(const Part& train) {
  models::BertHead& head = options_.head;
  head.class_weights = class_weights(options_.class_weights, head.labels,
                                     class_counts(train.labels, head.labels.size()));
  if (head.class_weights.empty()) return;
  output_.notice(describe_class_weights(head.class_weights, head.labels));
}

double GlueFinetuning::evaluate(inference::InferenceClient& client, int64_t step) {
  const Part& dev = parts_.front();
  const std::vector<double> values = predictions(client, dev.samples);
  output_.notice(fmt::format("step {}: {}", step, glue_scores_json(*dev.task, values, dev.labels)));
  return glue_metric(dev.task->metrics.front(), values, dev.labels);
}

std::string GlueFinetuning::evaluated_on() const {
  const Part& dev = parts_.front();
  return fmt::format("{} {}", dev.task->name, data::sample_digest(dev.samples));
}

Scores GlueFinetuning::finish(inference::InferenceClient& client, const fs::path& folder) {
  Scores scores;
  for (const Part& part : parts_) {
    const std::vector<double> values = predictions(client, part.samples);
    if (part.split == GlueSplit::kDev) {
      report(part, values, folder, scores);
    } else {
      const fs::path path = folder / glue_submission_name(*part.task);
      write_glue_submission(path, *part.task, values);
      output_.notice(fmt::format("wrote {}", path.string()));
    }
  }
  return scores;
}

// A classifier with a different number of classes, or with these in another order, is of no use
// here. Other names may stand for the same classes: others call 0 and 1 "negative" and "positive".
void GlueFinetuning::compare_classes(const models::BertHead& start, bool trains) {
  const std::vector<std::string>& theirs = start.labels;
  const std::vector<std::string>& ours = options_.head.labels;
  if (start.kind != options_.head.kind || start.is_multi_label) {
    // The classifier of another head, such as one of tokens, has other classes.
    has_its_classes_ = !trains;
    return;
  }
  if (std::ranges::equal(theirs, ours, {}, plain_name, plain_name)) return;
  const std::string classes =
      fmt::format("the start model's classes are [{}], those of {} are [{}]",
                  fmt::join(theirs, ", "), task_.name, fmt::join(ours, ", "));
  const bool is_reordered = std::ranges::is_permutation(theirs, ours, {}, plain_name, plain_name);
  if (theirs.size() == ours.size() && !is_reordered) {
    if (!task_.is_regression()) {
      output_.notice(fmt::format("note: {}; they are taken in this order", classes));
    }
    return;
  }
  if (!trains) throw_user_error("{}; train it on the task", classes);
  output_.notice(fmt::format("note: {}; the classifier is initialised afresh", classes));
  has_its_classes_ = false;
}

// Classes with the same names may mean something else. Task names that others write, such as
// "text-classification", say nothing.
void GlueFinetuning::compare_tasks(const models::BertHead& start, bool trains) {
  const std::string& theirs = start.task;
  if (!is_glue_task(theirs) || has_classifier_of(task_, theirs)) return;
  if (!trains) {
    throw_user_error(
        "the start model was trained on {}, not on {}; train it, or give --task-name {}", theirs,
        task_.name, theirs);
  }
  output_.notice(fmt::format(
      "note: the start model was trained on {}; the classifier is initialised afresh", theirs));
  has_its_classes_ = false;
}

bool GlueFinetuning::has(const GlueTask& task, GlueSplit split) const {
  return find_glue_file(options_.data_dir, task, split).has_value();
}

void GlueFinetuning::load_parts(GlueSplit split) {
  for (const GlueTask* task : tasks_of(task_, split)) {
    if (has(*task, split)) parts_.push_back(load(*task, split));
  }
}

GlueFinetuning::Part GlueFinetuning::load(const GlueTask& task, GlueSplit split) const {
  const fs::path path = glue_file(options_.data_dir, task, split);
  std::vector<int64_t> short_lines;
  const bool may_be_short = split == GlueSplit::kTrain && task.has_short_lines;
  const auto examples =
      read_glue(path, task, split != GlueSplit::kTest, may_be_short ? &short_lines : nullptr);
  if (!short_lines.empty()) {
    output_.notice(
        fmt::format("note: {}: {} lines that lack columns were left out, the first is {}",
                    path.string(), short_lines.size(), short_lines[0]));
  }
  const std::vector<std::string_view> texts = texts_of(examples);
  output_.examine(path.string(), texts);
  SequenceSamples features = make_glue_features(examples, task, tokenizer_, options_.features);
  output_.notice(fmt::format("{}: {} examples, {} cut to seq_length {}", path.string(),
                             examples.size(), features.num_cut,
                             options_.features.max_sequence_length));
  Part part{.task = &task, .split = split, .samples = std::move(features.samples)};
  for (const GlueExample& example : examples) {
    if (example.label) part.labels.push_back(*example.label);
  }
  note_rowless(tokenizer_, path.string(), texts, output_);
  constexpr size_t kFirstExamples = 100;
  const auto some = std::span(examples).first(std::min(examples.size(), kFirstExamples));
  part.first_examples.assign(some.begin(), some.end());
  return part;
}

std::vector<double> GlueFinetuning::predictions(inference::InferenceClient& client,
                                                const std::vector<data::Sample>& samples) const {
  const auto watched = output_.watch(client, std::ssize(samples));
  return class_predictions(class_logits(client, samples));
}

void GlueFinetuning::write_example(const Part& part, const std::vector<double>& values,
                                   const fs::path& folder) const {
  if (part.task->is_regression()) return;
  for (size_t i = 0; i < part.first_examples.size(); ++i) {
    const GlueExample& one = part.first_examples[i];
    if (values[i] != one.label) continue;
    formats::Json input = {{"text", one.first}};
    if (!one.second.empty()) input["text_pair"] = one.second;
    write_page_example(folder, input,
                       std::string(part.task->labels[static_cast<size_t>(values[i])]));
    return;
  }
}

void GlueFinetuning::report(const Part& part, const std::vector<double>& values,
                            const fs::path& folder, Scores& scores) const {
  const GlueTask& task = *part.task;
  const std::string text = glue_scores_json(task, values, part.labels);
  output_.result(fmt::format("{} {}", task.name, text));
  const std::string note = one_class_note(task, values, part.labels);
  if (!note.empty()) output_.notice(note);
  if (&part == &parts_.front()) write_example(part, values, folder);
  platform::write_file_atomically(folder / fmt::format("eval_results_{}.json", task.name),
                                  text + "\n");
  for (const GlueMetric metric : task.metrics) {
    scores[fmt::format("{} {}", task.name, name_of(metric))] =
        100.0 * glue_metric(metric, values, part.labels);
  }
}

}  // namespace cloze::tasks

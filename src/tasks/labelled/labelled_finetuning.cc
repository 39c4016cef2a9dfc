#include "tasks/labelled/labelled_finetuning.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/whole_number.h"
#include "data/dataset.h"
#include "data/sequence.h"
#include "platform/files/atomic_file.h"
#include "tasks/label_scores.h"
#include "tasks/labelled/held_out.h"
#include "tasks/labelled/label_file.h"
#include "tasks/logits.h"
#include "tasks/sample_dataset.h"
#include "tasks/sequence_sample.h"
#include "tasks/text_classifier.h"

namespace cloze::tasks {
namespace {

namespace fs = std::filesystem;

// All first texts, then all second ones.
std::vector<std::string_view> texts_of(const std::vector<LabelledText>& rows) {
  std::vector<std::string_view> texts;
  for (const LabelledText& row : rows) texts.push_back(row.text);
  for (const LabelledText& row : rows) {
    if (!row.pair.empty()) texts.push_back(row.pair);
  }
  return texts;
}

std::vector<std::string> sorted_classes(const LabelledTable& table) {
  std::set<std::string> names;
  for (const LabelledText& row : table.rows) names.insert(row.label);
  return ordered_labels(names);
}

}  // namespace

LabelledFinetuning::LabelledFinetuning(LabelledFinetuningOptions options,
                                       const text::Tokenizer& tokenizer, TaskOutput output)
    : options_(std::move(options)), tokenizer_(tokenizer), output_(std::move(output)) {
  const int64_t least = data::num_borders(true);
  if (options_.max_sequence_length < least) {
    throw_user_error("max_seq_length is {}; it must be at least {}", options_.max_sequence_length,
                     least);
  }
}

FinetuningPhases LabelledFinetuning::possible_phases() const {
  const bool trains = !options_.train_file.empty();
  const bool has_dev = !options_.dev_file.empty() || (trains && options_.dev_share > 0.0);
  if (!trains && !has_dev) {
    throw_user_error(
        "there is nothing to do: give train_file, the table to learn from, or dev_file, "
        "one to score");
  }
  return {.training = trains, .evaluation = has_dev, .prediction = false};
}

void LabelledFinetuning::prepare(const models::BertHead& start, const FinetuningPhases& phases) {
  const bool has_dev_file = !options_.dev_file.empty();
  std::optional<LabelledTable> train, dev;
  if (phases.training || !has_dev_file) train = read(options_.train_file);
  if (phases.evaluation && has_dev_file) dev = read(options_.dev_file);
  if (phases.training) {
    take_classes(*train, start);
  } else {
    take_classes_of(start);
  }
  if (dev) dev_ = part_of(dev->file.string(), dev->rows, label_numbers(*dev));
  if (train) split(std::move(*train), phases);
}

LabelledTable LabelledFinetuning::read(const std::string& file) const {
  LabelledTable table = read_labelled_table(file, options_.table);
  output_.notice(describe(table));
  return table;
}

bool LabelledFinetuning::is_of_this_kind(const models::BertHead& start) const {
  return start.kind == options_.head.kind && !start.labels.empty() &&
         start.is_regression() == options_.is_regression;
}

void LabelledFinetuning::take_classes_of(const models::BertHead& start) {
  if (!is_of_this_kind(start)) {
    throw_user_error("the start model {}; train it on your table first",
                     options_.is_regression ? "predicts no number" : "is no classifier");
  }
  options_.head.labels = start.labels;
  has_its_classes_ = true;
}

void LabelledFinetuning::take_classes(const LabelledTable& table, const models::BertHead& start) {
  std::vector<std::string>& classes = options_.head.labels;
  classes = options_.is_regression ? std::vector<std::string>{"score"} : sorted_classes(table);
  const bool has_its_names =
      options_.is_regression || std::ranges::is_permutation(start.labels, classes);
  if (is_of_this_kind(start) && has_its_names) return take_classes_of(start);
  if (options_.is_regression) return;
  if (classes.size() < 2) {
    throw_user_error("{}: all {} rows have the label {}; a classifier needs two classes or more",
                     table.file.string(), table.rows.size(), classes.front());
  }
  output_.notice(fmt::format("{} classes: {}", classes.size(), fmt::join(classes, ", ")));
}

double LabelledFinetuning::label_number(const LabelledTable& table, const LabelledText& row) const {
  const auto refuse = [&](const std::string& must) {
    throw_data_error("{}:{}: label '{}' in {}; it must be {}", table.file.string(), row.line,
                     row.label, table.columns.label_column, must);
  };
  if (options_.is_regression) {
    const auto number = number_in<double>(row.label);
    if (!number || !std::isfinite(*number)) refuse("a number");
    return *number;
  }
  const std::vector<std::string>& classes = options_.head.labels;
  const auto found = std::ranges::find(classes, row.label);
  if (found == classes.end()) refuse(fmt::format("one of {}", fmt::join(classes, ", ")));
  return static_cast<double>(found - classes.begin());
}

std::vector<double> LabelledFinetuning::label_numbers(const LabelledTable& table) const {
  std::vector<double> numbers;
  for (const LabelledText& row : table.rows) numbers.push_back(label_number(table, row));
  return numbers;
}

// Makes the training part, and the dev part where no file is one.
void LabelledFinetuning::split(LabelledTable table, const FinetuningPhases& phases) {
  const bool holds_out = phases.evaluation && !dev_;
  const std::vector<double> labels = label_numbers(table);
  std::vector<bool> held_out(labels.size());
  if (holds_out) {
    std::vector<int64_t> classes(labels.size());
    if (!options_.is_regression) std::ranges::copy(labels, classes.begin());
    held_out = held_out_rows(classes, options_.dev_share, options_.split_seed);
  }
  std::vector<LabelledText> rows[2];
  std::vector<double> numbers[2];
  for (size_t i = 0; i < labels.size(); ++i) {
    rows[held_out[i]].push_back(std::move(table.rows[i]));
    numbers[held_out[i]].push_back(labels[i]);
  }
  const std::string file = table.file.string();
  if (phases.training) train_ = part_of(file, std::move(rows[0]), std::move(numbers[0]));
  if (!holds_out) return;
  if (rows[1].empty()) {
    throw_user_error(
        "dev_share {} of the {} rows of {} holds none out; give dev_file, a larger share, "
        "or dev_share 0 to score nothing",
        options_.dev_share, labels.size(), file);
  }
  output_.notice(fmt::format("held out {} of {} rows to score on", rows[1].size(), labels.size()));
  dev_ = part_of(file + ", held out", std::move(rows[1]), std::move(numbers[1]));
}

LabelledFinetuning::Part LabelledFinetuning::part_of(const std::string& name,
                                                     std::vector<LabelledText> rows,
                                                     std::vector<double> labels) const {
  const std::vector<std::string_view> texts = texts_of(rows);
  output_.examine(name, texts);
  const auto texts_of_row = [&](int64_t i) -> SequenceTexts {
    const LabelledText& row = rows[static_cast<size_t>(i)];
    if (row.pair.empty()) return {row.text, std::nullopt};
    return {row.text, row.pair};
  };
  SequenceSamples made = sequence_samples(std::ssize(rows), texts_of_row, tokenizer_,
                                          options_.max_sequence_length, options_.threads);
  for (size_t i = 0; i < labels.size(); ++i) {
    set_label(labels[i], options_.is_regression, made.samples[i]);
  }
  output_.notice(fmt::format("{}: {} of {} rows cut to seq_length {}", name, made.num_cut,
                             rows.size(), options_.max_sequence_length));
  note_rowless(tokenizer_, name, texts, output_);
  return {.rows = std::move(rows), .labels = std::move(labels), .samples = std::move(made.samples)};
}

std::shared_ptr<const data::Dataset> LabelledFinetuning::training_data() {
  return std::make_shared<SampleDataset>(train_->samples);
}

LabelledFinetuning::Predictions LabelledFinetuning::predict(
    inference::InferenceClient& client) const {
  const auto watched = output_.watch(client, std::ssize(dev_->samples));
  const std::vector<std::vector<float>> logits = class_logits(client, dev_->samples);
  Predictions predictions{.values = class_predictions(logits)};
  if (options_.is_regression) return predictions;
  for (const std::vector<float>& row : logits) {
    predictions.probabilities.push_back(std::ranges::max(softmax(std::span<const float>(row))));
  }
  return predictions;
}

NamedScores LabelledFinetuning::score(const Predictions& predictions) const {
  NamedScores scores;
  if (options_.is_regression) {
    scores.printed = {{"pearson", pearson(predictions.values, dev_->labels)},
                      {"spearman", spearman(predictions.values, dev_->labels)}};
    for (const auto& [name, value] : scores.printed) scores.all[name] = value;
    return scores;
  }
  std::vector<ClassPrediction> rows;
  for (size_t i = 0; i < dev_->labels.size(); ++i) {
    rows.push_back({.label = static_cast<int64_t>(dev_->labels[i]),
                    .predicted = static_cast<int64_t>(predictions.values[i]),
                    .probability = predictions.probabilities[i]});
  }
  const ClassScores all = score_classes(rows, std::ssize(options_.head.labels));
  scores.printed = {
      {"accuracy", all.accuracy}, {"macro F1", all.macro.f1}, {"weighted F1", all.weighted.f1}};
  scores.all = class_scores_json(all, options_.head.labels);
  return scores;
}

double LabelledFinetuning::evaluate(inference::InferenceClient& client, int64_t step) {
  const NamedScores scores = score(predict(client));
  output_.notice(fmt::format("step {}: {}", step, scores.text()));
  return scores.printed.front().second;
}

std::string LabelledFinetuning::evaluated_on() const {
  return fmt::format("{} {}", options_.is_regression ? "regress" : "classify",
                     data::sample_digest(dev_->samples));
}

void LabelledFinetuning::write_predictions(const Predictions& predictions,
                                           const fs::path& folder) const {
  const std::vector<std::string>& classes = options_.head.labels;
  std::string text;
  for (size_t i = 0; i < dev_->rows.size(); ++i) {
    const LabelledText& row = dev_->rows[i];
    formats::Json line = {{"line", row.line}, {"label", row.label}};
    if (options_.is_regression) {
      line["predicted"] = predictions.values[i];
    } else {
      line["predicted"] = classes[static_cast<size_t>(predictions.values[i])];
      line["probability"] = predictions.probabilities[i];
    }
    text += formats::json_line(line) + "\n";
  }
  platform::write_file_atomically(folder / "predictions.jsonl", text);
}

// The first row that the model got right, for the page of a server.
void LabelledFinetuning::write_example(const Predictions& predictions,
                                       const fs::path& folder) const {
  if (options_.is_regression) return;
  for (size_t i = 0; i < dev_->rows.size(); ++i) {
    if (predictions.values[i] != dev_->labels[i]) continue;
    const LabelledText& row = dev_->rows[i];
    formats::Json input = {{"text", row.text}};
    if (!row.pair.empty()) input["text_pair"] = row.pair;
    return write_page_example(folder, input, row.label);
  }
}

Scores LabelledFinetuning::finish(inference::InferenceClient& client, const fs::path& folder) {
  if (!dev_) return {};
  const Predictions predictions = predict(client);
  const NamedScores named = score(predictions);
  output_.result(named.text());
  platform::write_file_atomically(folder / "eval_results.json", formats::json_text(named.all));
  write_predictions(predictions, folder);
  write_example(predictions, folder);
  return named.percentages();
}

}  // namespace cloze::tasks

#include "tasks/labelled/labelled_finetuning.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "data/dataset.h"
#include "data/sequence.h"
#include "platform/files/atomic_file.h"
#include "tasks/class_weights.h"
#include "tasks/labelled/held_out.h"
#include "tasks/sample_dataset.h"
#include "tasks/sequence_sample.h"
#include "tasks/text_chooser.h"
#include "tasks/text_classifier.h"

namespace cloze::tasks {
namespace {

namespace fs = std::filesystem;

// A text as a sequence: alone, or with a second text, a choice, or both of these as one.
struct RowSequence {
  const std::string* first;
  std::string second;  // empty: none
};

std::vector<RowSequence> sequences_of(std::span<const LabelledText> rows) {
  std::vector<RowSequence> sequences;
  for (const LabelledText& row : rows) {
    if (row.choices.empty()) sequences.push_back({&row.text, row.pair});
    for (const std::string& choice : row.choices) {
      sequences.push_back({&row.text, second_text(row.pair, choice)});
    }
  }
  return sequences;
}

size_t num_sequences(const LabelledText& row) { return std::max<size_t>(1, row.choices.size()); }

// All first texts, then all second ones.
std::vector<std::string_view> texts_of(std::span<const RowSequence> sequences) {
  std::vector<std::string_view> texts;
  for (const RowSequence& one : sequences) texts.push_back(*one.first);
  for (const RowSequence& one : sequences) {
    if (!one.second.empty()) texts.push_back(one.second);
  }
  return texts;
}

}  // namespace

LabelledFinetuning::LabelledFinetuning(LabelledFinetuningOptions options,
                                       const text::Tokenizer& tokenizer, TaskOutput output)
    : options_(std::move(options)),
      tokenizer_(tokenizer),
      output_(std::move(output)),
      problem_(*options_.problem),
      head_(problem_.head()) {
  head_.classifier_dropout = options_.classifier_dropout;
  head_.label_smoothing = options_.label_smoothing;
  if (options_.table.label_separator.empty()) {
    throw_user_error("label_separator is empty; give what stands between labels");
  }
  require_length(options_.max_sequence_length, data::num_borders(true));
}

FinetuningPhases LabelledFinetuning::possible_phases() const {
  return phases_of_tables(options_.train_file, options_.dev_file, options_.dev_share);
}

void LabelledFinetuning::prepare(const models::BertHead& start, const FinetuningPhases& phases) {
  const bool has_dev_file = !options_.dev_file.empty();
  std::optional<LabelledTable> train, dev;
  if (phases.training || !has_dev_file) train = read(options_.train_file);
  if (phases.evaluation && has_dev_file) dev = read(options_.dev_file);
  if (phases.training) {
    take_labels(*train, start);
  } else {
    take_labels_of(start);
  }
  if (dev) dev_ = part_of(dev->file.string(), dev->rows, targets_of(*dev));
  if (train) split(std::move(*train), phases);
  if (phases.training && options_.class_weights != "none") weigh_classes();
}

// By the rows that are not held out.
void LabelledFinetuning::weigh_classes() {
  std::vector<double> labels;
  for (const LabelTarget& target : train_->targets) labels.push_back(target.front());
  head_.class_weights = class_weights(options_.class_weights, head_.labels,
                                      class_counts(labels, head_.labels.size()));
  output_.notice(describe_class_weights(head_.class_weights, head_.labels));
}

LabelledTable LabelledFinetuning::read(const std::string& file) const {
  LabelledTable table = read_labelled_table(file, options_.table);
  output_.notice(describe(table));
  return table;
}

bool LabelledFinetuning::is_of_this_kind(const models::BertHead& start) const {
  return start.kind == head_.kind && start.is_multi_label == head_.is_multi_label &&
         start.labels.empty() != start.traits().has_labels &&
         start.is_regression() == problem_.is_regression();
}

void LabelledFinetuning::take_labels_of(const models::BertHead& start) {
  if (!is_of_this_kind(start)) {
    throw_user_error("the start model {}; train it on your table first", problem_.lack());
  }
  head_.labels = start.labels;
  has_its_labels_ = true;
}

void LabelledFinetuning::take_labels(const LabelledTable& table, const models::BertHead& start) {
  head_.labels = problem_.labels_in(table);
  const bool has_its_names =
      head_.is_regression() || std::ranges::is_permutation(start.labels, head_.labels);
  if (is_of_this_kind(start) && has_its_names) return take_labels_of(start);
  if (head_.is_regression() || head_.labels.empty()) return;
  output_.notice(fmt::format("{} labels: {}", head_.labels.size(), fmt::join(head_.labels, ", ")));
}

std::vector<LabelTarget> LabelledFinetuning::targets_of(const LabelledTable& table) const {
  std::vector<LabelTarget> targets;
  for (const LabelledText& row : table.rows) {
    targets.push_back(problem_.target_of(table, row, head_.labels));
  }
  return targets;
}

// Makes the training part, and the dev part where no file is one.
void LabelledFinetuning::split(LabelledTable table, const FinetuningPhases& phases) {
  const bool holds_out = phases.evaluation && !dev_;
  std::vector<LabelTarget> targets = targets_of(table);
  const size_t num_rows = targets.size();
  std::vector<bool> held_out(num_rows);
  if (holds_out) {
    held_out = held_out_rows(problem_.strata_of(targets), options_.dev_share, options_.split_seed);
  }
  std::vector<LabelledText> rows[2];
  std::vector<LabelTarget> parts[2];
  for (size_t i = 0; i < num_rows; ++i) {
    rows[held_out[i]].push_back(std::move(table.rows[i]));
    parts[held_out[i]].push_back(std::move(targets[i]));
  }
  const std::string file = table.file.string();
  if (phases.training) train_ = part_of(file, std::move(rows[0]), std::move(parts[0]));
  if (!holds_out) return;
  say_held_out(
      {.file = file, .all = num_rows, .held_out = rows[1].size(), .share = options_.dev_share},
      output_);
  dev_ = part_of(file + ", held out", std::move(rows[1]), std::move(parts[1]));
}

LabelledFinetuning::Part LabelledFinetuning::part_of(const std::string& name,
                                                     std::vector<LabelledText> rows,
                                                     std::vector<LabelTarget> targets) const {
  const std::vector<RowSequence> sequences = sequences_of(rows);
  const std::vector<std::string_view> texts = texts_of(sequences);
  output_.examine(name, texts);
  const auto texts_of_sequence = [&](int64_t i) -> SequenceTexts {
    const auto& [first, second] = sequences[static_cast<size_t>(i)];
    if (second.empty()) return {*first, std::nullopt};
    return {*first, second};
  };
  SequenceSamples made = sequence_samples(std::ssize(sequences), texts_of_sequence, tokenizer_,
                                          options_.max_sequence_length, options_.threads);
  output_.notice(fmt::format("{}: {} of {} {} cut to seq_length {}", name, made.num_cut,
                             sequences.size(), sequences.size() == rows.size() ? "rows" : "choices",
                             options_.max_sequence_length));
  note_rowless(tokenizer_, name, texts, output_);
  return {
      .rows = std::move(rows), .targets = std::move(targets), .sequences = std::move(made.samples)};
}

std::vector<data::Sample> LabelledFinetuning::labelled_samples(const Part& part) const {
  std::vector<data::Sample> samples;
  std::span<const data::Sample> rest = part.sequences;
  for (size_t i = 0; i < part.rows.size(); ++i) {
    const size_t count = num_sequences(part.rows[i]);
    samples.push_back(joined_sample(rest.first(count)));
    problem_.set_target(part.targets[i], std::ssize(head_.labels), samples.back());
    rest = rest.subspan(count);
  }
  return samples;
}

std::map<std::string, std::vector<float>> LabelledFinetuning::fresh_values() const {
  std::vector<float> bias = problem_.first_bias(train_->targets, std::ssize(head_.labels));
  if (has_its_labels_ || bias.empty()) return {};
  return {{"classifier.bias", std::move(bias)}};
}

std::shared_ptr<const data::Dataset> LabelledFinetuning::training_data() {
  return std::make_shared<SampleDataset>(labelled_samples(*train_));
}

int64_t LabelledFinetuning::sequences_per_sample() const {
  size_t most = 1;
  for (const auto* part : {&train_, &dev_}) {
    if (!*part) continue;
    for (const LabelledText& row : (*part)->rows) most = std::max(most, num_sequences(row));
  }
  return static_cast<int64_t>(most);
}

std::vector<LabelPrediction> LabelledFinetuning::predict(inference::InferenceClient& client) const {
  const auto watched = output_.watch(client, std::ssize(dev_->sequences));
  const std::vector<std::vector<float>> logits = class_logits(client, dev_->sequences);
  std::vector<LabelPrediction> predictions;
  auto next = logits.begin();
  for (const LabelledText& row : dev_->rows) {
    std::vector<float> of_row;
    for (size_t i = 0; i < num_sequences(row); ++i, ++next) {
      std::ranges::copy(*next, std::back_inserter(of_row));
    }
    predictions.push_back(problem_.predict(of_row));
  }
  return predictions;
}

ScoredRows LabelledFinetuning::scored(std::span<const LabelPrediction> predictions) const {
  return {.rows = dev_->rows,
          .targets = dev_->targets,
          .predictions = predictions,
          .names = head_.labels};
}

double LabelledFinetuning::evaluate(inference::InferenceClient& client, int64_t step) {
  const NamedScores scores = problem_.score(scored(predict(client)));
  output_.notice(fmt::format("step {}: {}", step, scores.text()));
  return scores.printed.front().second;
}

std::string LabelledFinetuning::evaluated_on() const {
  return fmt::format("{} {}", problem_.name(), data::sample_digest(labelled_samples(*dev_)));
}

void LabelledFinetuning::write_predictions(std::span<const LabelPrediction> predictions,
                                           const fs::path& folder) const {
  std::string text;
  for (size_t i = 0; i < dev_->rows.size(); ++i) {
    formats::Json line = {{"line", dev_->rows[i].line}};
    problem_.add_json(dev_->targets[i], predictions[i], head_.labels, line);
    text += formats::json_line(line) + "\n";
  }
  platform::write_file_atomically(folder / "predictions.jsonl", text);
}

// The first row that the model got right, for the page of a server.
void LabelledFinetuning::write_example(std::span<const LabelPrediction> predictions,
                                       const fs::path& folder) const {
  for (size_t i = 0; i < dev_->rows.size(); ++i) {
    const LabelledText& row = dev_->rows[i];
    const std::string answer = problem_.answer(dev_->targets[i], row, head_.labels);
    if (answer.empty() || predictions[i].target != dev_->targets[i]) continue;
    formats::Json input = {{"text", row.text}};
    if (!row.pair.empty()) input["text_pair"] = row.pair;
    if (!row.choices.empty()) input["choices"] = row.choices;
    return write_page_example(folder, input, answer);
  }
}

Scores LabelledFinetuning::finish(inference::InferenceClient& client, const fs::path& folder) {
  if (!dev_) return {};
  const std::vector<LabelPrediction> predictions = predict(client);
  const ScoredRows rows = scored(predictions);
  const NamedScores named = problem_.score(rows);
  output_.result(named.text());
  platform::write_file_atomically(folder / "eval_results.json", formats::json_text(named.all));
  write_predictions(predictions, folder);
  write_example(predictions, folder);
  for (const std::string& line : named.lines) output_.notice(line);
  report_ = problem_.report(rows);
  return named.percentages();
}

}  // namespace cloze::tasks

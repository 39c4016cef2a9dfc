#include "tasks/contrastive/contrastive_finetuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "data/dataset.h"
#include "data/sequence.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"
#include "tasks/labelled/held_out.h"
#include "tasks/logits.h"
#include "tasks/sequence_sample.h"
#include "tasks/text_embedder.h"

namespace cloze::tasks {
namespace {

namespace fs = std::filesystem;

bool needs_scores(const ContrastiveLoss& loss) {
  return loss.needs == TuplesNeeded::kScores || loss.needs == TuplesNeeded::kScoresOfOne;
}

// The texts of each row as a sample.
class TupleDataset final : public data::Dataset {
 public:
  // texts: of each row, numbers that a step may hold once; none where they may meet.
  TupleDataset(std::vector<data::Sample> samples, std::vector<std::vector<int32_t>> texts)
      : samples_(std::move(samples)), texts_(std::move(texts)) {}

  int64_t size() const override { return std::ssize(samples_); }
  data::Sample sample(int64_t index, int64_t /*epoch*/) const override {
    return samples_[static_cast<size_t>(index)];
  }
  std::vector<int32_t> only_once(int64_t index) const override {
    return texts_.empty() ? std::vector<int32_t>() : texts_[static_cast<size_t>(index)];
  }
  std::string fingerprint() const override {
    return fmt::format("{} samples {}", size(), data::sample_digest(*this));
  }

 private:
  std::vector<data::Sample> samples_;
  std::vector<std::vector<int32_t>> texts_;
};

}  // namespace

ContrastiveFinetuning::ContrastiveFinetuning(ContrastiveFinetuningOptions options,
                                             const text::Tokenizer& tokenizer, TaskOutput output)
    : options_(std::move(options)), tokenizer_(tokenizer), output_(std::move(output)) {
  require_length(options_.max_sequence_length, data::num_borders(true));
}

FinetuningPhases ContrastiveFinetuning::possible_phases() const {
  return phases_of_tables(options_.train_file, options_.dev_file, options_.dev_share);
}

void ContrastiveFinetuning::prepare(const models::BertHead& start, int64_t hidden_size,
                                    const FinetuningPhases& phases) {
  head_ = start;
  hidden_size_ = hidden_size;
  const bool has_dev_file = !options_.dev_file.empty();
  std::optional<TupleTable> train;
  if (phases.training || !has_dev_file) train = read_train();
  if (train) take_loss(*train);
  if (phases.evaluation && has_dev_file) {
    TupleTable dev = read_dev();
    const bool has_scores = dev.has_scores();
    dev_ = part_of(dev.file.string(), std::move(dev.rows), has_scores);
  }
  if (train) split(std::move(*train), phases);
  if (phases.training) vector_loss();  // refuses what does not fit
}

TupleTable ContrastiveFinetuning::read(const std::string& file, const TupleOptions& columns) const {
  TupleTable table = read_text_tuples(file, columns);
  output_.notice(describe(table));
  return table;
}

// A loss that reads no scores leaves a column of them alone.
TupleTable ContrastiveFinetuning::read_train() const {
  TupleOptions columns = options_.table;
  const bool is_known = options_.objective.loss != kLossOfTable;
  if (is_known && columns.score_column.empty()) {
    columns.takes_scores = needs_scores(contrastive_loss_named(options_.objective.loss));
  }
  return read(options_.train_file, columns);
}

// The dev file may be of another kind: pairs are learned and scored pairs scored, or the other way.
TupleTable ContrastiveFinetuning::read_dev() const {
  TupleOptions columns = options_.table;
  columns.may_lack_columns = !options_.train_file.empty();
  return read(options_.dev_file, columns);
}

void ContrastiveFinetuning::take_loss(const TupleTable& table) {
  std::string& loss = options_.objective.loss;
  if (loss == kLossOfTable) {
    loss = table.has_scores() ? "cosent" : "multiple_negatives";
    output_.notice(fmt::format("the loss is {}: the table has {}scores", loss,
                               table.has_scores() ? "" : "no "));
  }
  require_rows(table);
}

void ContrastiveFinetuning::require_rows(const TupleTable& table) const {
  const ContrastiveLoss& loss = contrastive_loss_named(options_.objective.loss);
  const std::string file = table.file.string();
  if (needs_scores(loss) && !table.has_scores()) {
    throw_user_error(
        "{} has no scores, which the loss {} learns; name their column with "
        "score_column, or take another loss",
        file, loss.name);
  }
  if (loss.needs == TuplesNeeded::kNegatives && table.texts_per_row() < 3) {
    throw_user_error(
        "{} has no negatives, which the loss {} needs; name their columns with "
        "text_columns, or take another loss",
        file, loss.name);
  }
  if (loss.needs != TuplesNeeded::kScoresOfOne) return;
  const auto [least, most] = std::ranges::minmax(table.rows, {}, &TextTuple::score);
  if (least.score >= -1.0 && most.score <= 1.0) return;
  throw_user_error(
      "{} has scores from {} to {}, which no cosine reaches; scale them to 0 to 1, or "
      "take the loss cosent, which learns their order",
      file, least.score, most.score);
}

// Makes the training part, and the dev part where no file is one.
void ContrastiveFinetuning::split(TupleTable table, const FinetuningPhases& phases) {
  const bool holds_out = phases.evaluation && !dev_;
  const size_t num_rows = table.rows.size();
  std::vector<bool> held_out(num_rows);
  if (holds_out) {
    held_out =
        held_out_rows(std::vector<int64_t>(num_rows), options_.dev_share, options_.split_seed);
  }
  std::vector<TextTuple> rows[2];
  for (size_t i = 0; i < num_rows; ++i) rows[held_out[i]].push_back(std::move(table.rows[i]));
  const std::string file = table.file.string();
  if (phases.training) train_ = part_of(file, std::move(rows[0]), table.has_scores());
  if (!holds_out) return;
  say_held_out(
      {.file = file, .all = num_rows, .held_out = rows[1].size(), .share = options_.dev_share},
      output_);
  dev_ = part_of(file + ", held out", std::move(rows[1]), table.has_scores());
}

ContrastiveFinetuning::Part ContrastiveFinetuning::part_of(const std::string& name,
                                                           std::vector<TextTuple> rows,
                                                           bool has_scores) const {
  DistinctTexts distinct = distinct_texts(rows);
  std::vector<std::string> given;
  for (const std::string& text : distinct.texts) given.push_back(options_.prompt + text);
  const std::vector<std::string_view> texts(given.begin(), given.end());
  output_.examine(name, texts);
  SequenceSamples made = sequence_samples(
      std::ssize(texts),
      [&](int64_t i) -> SequenceTexts {
        return {texts[static_cast<size_t>(i)], std::nullopt};
      },
      tokenizer_, options_.max_sequence_length, options_.threads);
  output_.notice(fmt::format("{}: {} of {} texts cut to seq_length {}", name, made.num_cut,
                             texts.size(), options_.max_sequence_length));
  note_rowless(tokenizer_, name, texts, output_);
  return {.rows = std::move(rows),
          .has_scores = has_scores,
          .distinct = std::move(distinct),
          .sequences = std::move(made.samples)};
}

std::shared_ptr<const data::Dataset> ContrastiveFinetuning::training_data() {
  std::vector<data::Sample> samples;
  for (size_t i = 0; i < train_->rows.size(); ++i) {
    std::vector<data::Sample> texts;
    for (const int32_t text : train_->distinct.of_row[i]) {
      texts.push_back(train_->sequences[static_cast<size_t>(text)]);
    }
    samples.push_back(joined_sample(texts));
    samples.back().score = static_cast<float>(train_->rows[i].score);
  }
  const bool apart = contrastive_loss_named(options_.objective.loss).keeps_texts_apart;
  return std::make_shared<TupleDataset>(
      std::move(samples), apart ? train_->distinct.of_row : std::vector<std::vector<int32_t>>());
}

int64_t ContrastiveFinetuning::sequences_per_sample() const {
  return train_ ? std::ssize(train_->rows.front().texts) : 1;
}

models::VectorLoss ContrastiveFinetuning::vector_loss() const {
  if (!train_) return {};
  ContrastiveObjective objective = options_.objective;
  objective.is_normalized = head_.embedding.is_normalized;
  objective.settings.threads = options_.threads;
  return objective.vector_loss(sequences_per_sample(), head_.embedding.dimensions(hidden_size_));
}

VectorScores ContrastiveFinetuning::score(inference::InferenceClient& client) const {
  const auto watched = output_.watch(client, std::ssize(dev_->sequences));
  UnitVectors vectors(dev_->sequences.size());
  client.run_each(dev_->sequences, [&](size_t text, std::span<const float> vector) {
    require_finite(vector, "a text");
    vectors[text].assign(vector.begin(), vector.end());
    normalize(vectors[text]);
  });
  if (dev_->has_scores) return similarity_scores(dev_->rows, dev_->distinct, vectors);
  return retrieval_scores(dev_->distinct, vectors);
}

double ContrastiveFinetuning::evaluate(inference::InferenceClient& client, int64_t step) {
  const NamedScores scores = score(client).scores;
  output_.notice(fmt::format("step {}: {}", step, scores.text()));
  return scores.printed.front().second;
}

std::string ContrastiveFinetuning::evaluated_on() const {
  std::vector<data::Sample> samples;
  for (size_t i = 0; i < dev_->rows.size(); ++i) {
    for (const int32_t text : dev_->distinct.of_row[i]) {
      samples.push_back(dev_->sequences[static_cast<size_t>(text)]);
      samples.back().score = static_cast<float>(dev_->rows[i].score);
    }
  }
  return fmt::format("{} {}", dev_->has_scores ? "similarity" : "retrieval",
                     data::sample_digest(samples));
}

void ContrastiveFinetuning::write_predictions(std::span<const ScoredTuple> scored,
                                              const fs::path& folder) const {
  std::string text;
  for (size_t i = 0; i < scored.size(); ++i) {
    formats::Json line = {{"line", dev_->rows[i].line}, {"cosine", scored[i].cosine}};
    if (dev_->has_scores) line["score"] = dev_->rows[i].score;
    if (scored[i].rank > 0) line["rank"] = scored[i].rank;
    text += formats::json_line(line) + "\n";
  }
  platform::write_file_atomically(folder / "predictions.jsonl", text);
}

Scores ContrastiveFinetuning::finish(inference::InferenceClient& client, const fs::path& folder) {
  if (!dev_) return {};
  const VectorScores scored = score(client);
  output_.result(scored.scores.text());
  platform::write_file_atomically(folder / "eval_results.json",
                                  formats::json_text(scored.scores.all));
  write_predictions(scored.rows, folder);
  return scored.scores.percentages();
}

}  // namespace cloze::tasks

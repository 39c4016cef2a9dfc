#include "tasks/tagging/tagging_finetuning.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "base/error.h"
#include "data/dataset.h"
#include "data/sequence.h"
#include "platform/files/atomic_file.h"
#include "tasks/class_weights.h"
#include "tasks/labelled/class_report.h"
#include "tasks/labelled/held_out.h"
#include "tasks/labelled/label_file.h"
#include "tasks/logits.h"
#include "tasks/sample_dataset.h"
#include "tasks/sequence_sample.h"
#include "tasks/tagging/entity_report.h"
#include "tasks/tagging/tag_aggregation.h"
#include "tasks/tagging/tag_scheme.h"

namespace cloze::tasks {
namespace {

namespace fs = std::filesystem;

constexpr size_t kShownTags = 30;

// "O, B-PER, I-PER and 14 more"
std::string listed_tags(const std::vector<std::string>& tags) {
  const size_t shown = std::min(tags.size(), kShownTags);
  std::string list = fmt::format("{}", fmt::join(std::span(tags).first(shown), ", "));
  if (shown < tags.size()) list += fmt::format(" and {} more", tags.size() - shown);
  return list;
}

std::vector<std::string> by_type(const std::set<std::string>& names) {
  std::vector<std::string> tags(names.begin(), names.end());
  const auto key = [](const std::string& tag) {
    const EntityTag parts = *entity_tag(tag);
    return std::tuple(parts.place != 'O', parts.type, std::string_view("OBIES").find(parts.place));
  };
  std::ranges::sort(tags, {}, key);
  return tags;
}

formats::Json json_tags(const std::vector<std::string>& tags) {
  auto list = formats::Json::array();
  for (const std::string& tag : tags)
    list.push_back(tag.empty() ? formats::Json() : formats::Json(tag));
  return list;
}

// The sentence, and its words with the tags that they are said to have.
struct TaggedLine {
  std::string text;
  std::vector<TagPiece> words;

  void add(const std::string& word, size_t tag, size_t num_tags) {
    if (!text.empty()) text += ' ';
    const auto begin = static_cast<uint32_t>(text.size());
    text += word;
    TagPiece piece{.bytes = {begin, static_cast<uint32_t>(text.size())},
                   .probabilities = std::vector<double>(num_tags)};
    piece.probabilities[tag] = 1.0;
    words.push_back(std::move(piece));
  }
};

// A word in a file of columns: what would be a separator there, and a word of nothing, is "_".
std::string in_column(std::string word) {
  std::ranges::replace_if(
      word, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, '_');
  return word.empty() ? "_" : word;
}

}  // namespace

TaggingFinetuning::TaggingFinetuning(TaggingFinetuningOptions options,
                                     const text::Tokenizer& tokenizer, TaskOutput output)
    : options_(std::move(options)), tokenizer_(tokenizer), output_(std::move(output)) {
  require_length(options_.max_sequence_length, data::num_borders(false) + 1);
}

TaggedText TaggingFinetuning::read(const std::string& file) const {
  TaggedText text = read_tagged_text(file, options_.columns);
  output_.notice(describe(text));
  return text;
}

FinetuningPhases TaggingFinetuning::possible_phases() {
  const bool trains = !options_.train_file.empty();
  const bool holds_out = trains && options_.dev_share > 0.0;
  if (options_.dev_file.empty()) {
    if (!trains) {
      throw_user_error(
          "there is nothing to do: give train_file, sentences to learn from, or "
          "dev_file, sentences to score or to tag");
    }
    return {.training = true, .evaluation = holds_out, .prediction = holds_out};
  }
  dev_text_ = read(options_.dev_file);
  if (!dev_text_->has_tags()) {
    output_.notice(fmt::format("note: {} has no tags, and is not scored", options_.dev_file));
  }
  return {.training = trains, .evaluation = dev_text_->has_tags(), .prediction = true};
}

void TaggingFinetuning::prepare(const models::BertHead& start, const FinetuningPhases& phases) {
  phases_ = phases;
  const bool reads_dev = phases.evaluation || phases.prediction;
  std::optional<TaggedText> train;
  if (phases.training || (reads_dev && !dev_text_)) train = read(options_.train_file);
  if (phases.training) {
    take_tags(*train, start);
  } else {
    take_tags_of(start);
  }
  if (dev_text_ && reads_dev) {
    dev_name_ = options_.dev_file;
    dev_ = part_of(dev_name_, std::move(dev_text_->sentences));
  }
  dev_text_.reset();
  if (train) split(std::move(*train), phases);
  if (phases.evaluation) note_foreign_tags();
}

void TaggingFinetuning::take_tags_of(const models::BertHead& start) {
  if (start.kind != options_.head.kind || start.labels.empty()) {
    throw_user_error("the start model gives words no tags; train it on your sentences first");
  }
  options_.head.labels = start.labels;
  has_its_tags_ = true;
}

void TaggingFinetuning::take_tags(const TaggedText& text, const models::BertHead& start) {
  if (!text.has_tags()) {
    throw_user_error("{} has no tags to learn; give each word one, in a column after it",
                     text.file.string());
  }
  std::vector<std::string>& tags = options_.head.labels;
  tags = text.scheme.empty() ? ordered_labels(text.tags()) : by_type(text.tags());
  if (start.kind == options_.head.kind && std::ranges::is_permutation(start.labels, tags)) {
    return take_tags_of(start);
  }
  if (tags.size() < 2) {
    throw_user_error("{}: all words have the tag {}; there must be two tags or more",
                     text.file.string(), tags.front());
  }
  output_.notice(fmt::format("{} tags: {}", tags.size(), listed_tags(tags)));
}

// Makes the training part, and the dev part where no file is one.
void TaggingFinetuning::split(TaggedText text, const FinetuningPhases& phases) {
  const std::string file = text.file.string();
  const bool holds_out = (phases.evaluation || phases.prediction) && !dev_;
  std::vector<bool> held_out(text.sentences.size());
  if (holds_out) {
    held_out = held_out_rows(std::vector<int64_t>(held_out.size()), options_.dev_share,
                             options_.split_seed);
  }
  std::vector<TaggedWords> parts[2];
  for (size_t i = 0; i < held_out.size(); ++i) {
    parts[held_out[i]].push_back(std::move(text.sentences[i]));
  }
  if (phases.training) train_ = part_of(file, std::move(parts[0]));
  if (!holds_out) return;
  say_held_out({.file = file,
                .what = "sentences",
                .all = held_out.size(),
                .held_out = parts[1].size(),
                .share = options_.dev_share},
               output_);
  dev_name_ = file + ", held out";
  dev_ = part_of(dev_name_, std::move(parts[1]));
}

TaggingFinetuning::Part TaggingFinetuning::part_of(const std::string& name,
                                                   std::vector<TaggedWords> sentences) const {
  std::vector<std::string_view> words;
  for (const TaggedWords& sentence : sentences) {
    words.insert(words.end(), sentence.words.begin(), sentence.words.end());
  }
  output_.examine(name, words);
  Part part;
  std::vector<std::vector<int32_t>> ids;
  int64_t num_empty = 0;
  for (const TaggedWords& sentence : sentences) {
    part.words.push_back(word_pieces(sentence.words, tokenizer_));
    ids.push_back(std::move(part.words.back().ids));
    num_empty += part.words.back().num_empty;
  }
  part.windows = piece_windows(ids, tokenizer_.vocabulary(), options_.max_sequence_length);
  std::string said = fmt::format(
      "{}: {} of {} sentences are longer than seq_length {}, and are read "
      "through windows",
      name, part.windows.num_cut, sentences.size(), options_.max_sequence_length);
  if (num_empty > 0) {
    said += fmt::format("; {} words of which the tokenizer leaves nothing are [UNK]", num_empty);
  }
  output_.notice(said);
  note_rowless(tokenizer_, name, words, output_);
  part.sentences = std::move(sentences);
  return part;
}

// -1 for a tag that is not known, or not the model's.
int64_t TaggingFinetuning::number_of(const std::string& tag) const {
  const std::vector<std::string>& tags = options_.head.labels;
  const auto found = std::ranges::find(tags, tag);
  return found == tags.end() ? -1 : found - tags.begin();
}

void TaggingFinetuning::note_foreign_tags() const {
  std::map<std::string, int64_t> foreign;
  int64_t known = 0, count = 0;
  for (const TaggedWords& sentence : dev_->sentences) {
    for (const std::string& tag : sentence.tags) {
      if (tag.empty()) continue;
      (number_of(tag) >= 0 ? known : count) += 1;
      if (number_of(tag) < 0) ++foreign[tag];
    }
  }
  if (foreign.empty()) return;
  std::vector<std::string> names;
  for (const auto& [tag, words] : foreign) names.push_back(tag);
  if (known == 0) {
    throw_user_error("{} has the tags {}, the model {}; score sentences that have the model's tags",
                     dev_name_, listed_tags(names), listed_tags(options_.head.labels));
  }
  output_.notice(
      fmt::format("note: {} words of {} have tags that the model does not have, and count "
                  "as wrong: {}",
                  count, dev_name_, listed_tags(names)));
}

// The windows that have a tag to learn, with the tags of the words whose first piece they see best.
std::vector<data::Sample> TaggingFinetuning::labelled_samples(const Part& part) const {
  std::vector<data::Sample> samples;
  for (size_t w = 0; w < part.windows.windows.size(); ++w) {
    const PieceWindow& window = part.windows.windows[w];
    const std::vector<uint32_t>& first = part.words[window.text].first;
    data::Sample sample = part.windows.samples[w];
    for (size_t word = 0; word < first.size(); ++word) {
      const int64_t tag = number_of(part.sentences[window.text].tags[word]);
      const bool is_here =
          first[word] >= window.pieces.best_begin && first[word] < window.pieces.best_end;
      if (tag < 0 || !is_here) continue;
      sample.masked_positions.push_back(window.position_of(first[word]));
      sample.masked_labels.push_back(static_cast<int32_t>(tag));
    }
    if (!sample.masked_positions.empty()) samples.push_back(std::move(sample));
  }
  return samples;
}

std::shared_ptr<const data::Dataset> TaggingFinetuning::training_data() {
  std::vector<data::Sample> samples = labelled_samples(*train_);
  weigh_tags(samples);
  return std::make_shared<SampleDataset>(std::move(samples));
}

void TaggingFinetuning::weigh_tags(const std::vector<data::Sample>& samples) {
  models::BertHead& head = options_.head;
  std::vector<int64_t> counts(head.labels.size());
  for (const data::Sample& sample : samples) {
    for (const int32_t tag : sample.masked_labels) ++counts[static_cast<size_t>(tag)];
  }
  head.class_weights = class_weights(options_.class_weights, head.labels, counts);
  if (head.class_weights.empty()) return;
  output_.notice(describe_class_weights(head.class_weights, head.labels));
}

TaggingFinetuning::Predictions TaggingFinetuning::predict(
    inference::InferenceClient& client) const {
  const auto watched = output_.watch(client, std::ssize(dev_->windows.samples));
  Predictions predictions;
  for (const TaggedWords& sentence : dev_->sentences)
    predictions.emplace_back(sentence.words.size());
  for_each_piece(client, dev_->windows,
                 [&](size_t sentence, uint32_t piece, std::span<const float> logits) {
                   const std::vector<uint32_t>& first = dev_->words[sentence].first;
                   const auto word = std::ranges::lower_bound(first, piece);
                   if (word == first.end() || *word != piece) return;
                   const std::vector<double> shares = softmax(logits);
                   const auto best = std::ranges::max_element(shares);
                   predictions[sentence][static_cast<size_t>(word - first.begin())] = {
                       .tag = best - shares.begin(), .probability = *best};
                 });
  return predictions;
}

const std::string& TaggingFinetuning::name_of(const Prediction& prediction) const {
  return options_.head.labels[static_cast<size_t>(prediction.tag)];
}

bool TaggingFinetuning::has_entities() const { return !scheme_of(options_.head.labels).empty(); }

TaggingFinetuning::EntityWords TaggingFinetuning::entity_words(
    const Predictions& predictions) const {
  EntityWords scored;
  const auto spelled = [&](const std::string& tag) -> std::string_view {
    return scored.spellings.try_emplace(tag, in_iobes(tag)).first->second;
  };
  for (size_t i = 0; i < predictions.size(); ++i) {
    std::vector<std::string_view>& words = scored.words.emplace_back();
    TaggedSentence& tags = scored.tags.emplace_back();
    const TaggedWords& sentence = dev_->sentences[i];
    for (size_t word = 0; word < sentence.words.size(); ++word) {
      if (sentence.tags[word].empty()) continue;
      words.push_back(sentence.words[word]);
      tags.gold.push_back(spelled(sentence.tags[word]));
      tags.predicted.push_back(spelled(name_of(predictions[i][word])));
    }
  }
  return scored;
}

TaggingFinetuning::ClassWords TaggingFinetuning::class_words(const Predictions& predictions) const {
  ClassWords scored{.names = options_.head.labels};
  for (size_t i = 0; i < predictions.size(); ++i) {
    const TaggedWords& sentence = dev_->sentences[i];
    const std::string text = fmt::format("{}", fmt::join(sentence.words, " "));
    for (size_t word = 0; word < sentence.words.size(); ++word) {
      const std::string& gold = sentence.tags[word];
      if (gold.empty()) continue;
      const auto found = std::ranges::find(scored.names, gold);
      const int64_t label = found - scored.names.begin();
      if (found == scored.names.end()) scored.names.push_back(gold);
      scored.words.push_back({.label = label,
                              .predicted = predictions[i][word].tag,
                              .probability = predictions[i][word].probability});
      scored.rows.push_back({.text = sentence.words[word], .pair = text, .line = sentence.line});
    }
  }
  return scored;
}

NamedScores TaggingFinetuning::score(const Predictions& predictions) const {
  if (has_entities()) {
    const EntityScores all =
        score_entities(entity_words(predictions).tags, EntityReading::kLenient);
    return {.printed = {{"F1", all.means.micro.f1},
                        {"precision", all.means.micro.precision},
                        {"recall", all.means.micro.recall},
                        {"accuracy", all.accuracy}},
            .all = entity_scores_json(all)};
  }
  const ClassWords scored = class_words(predictions);
  const ClassScores all = score_classes(scored.words, std::ssize(scored.names));
  return {.printed = {{"accuracy", all.accuracy},
                      {"macro F1", all.macro.f1},
                      {"weighted F1", all.weighted.f1}},
          .all = class_scores_json(all, scored.names)};
}

std::string TaggingFinetuning::report_of(const Predictions& predictions) const {
  if (has_entities()) {
    const EntityWords scored = entity_words(predictions);
    const auto reading = EntityReading::kLenient;
    return entity_report({.words = scored.words,
                          .tags = scored.tags,
                          .reading = reading,
                          .scores = score_entities(scored.tags, reading)});
  }
  const ClassWords scored = class_words(predictions);
  return class_report({.rows = scored.rows,
                       .predictions = scored.words,
                       .names = scored.names,
                       .scores = score_classes(scored.words, std::ssize(scored.names))});
}

double TaggingFinetuning::evaluate(inference::InferenceClient& client, int64_t step) {
  const NamedScores scores = score(predict(client));
  output_.notice(fmt::format("step {}: {}", step, scores.text()));
  return scores.printed.front().second;
}

std::string TaggingFinetuning::evaluated_on() const {
  return fmt::format("tag {}", data::sample_digest(labelled_samples(*dev_)));
}

void TaggingFinetuning::write_predictions(const Predictions& predictions,
                                          const fs::path& folder) const {
  std::string lines, columns;
  for (size_t i = 0; i < predictions.size(); ++i) {
    const TaggedWords& sentence = dev_->sentences[i];
    const bool has_tags = !std::ranges::all_of(sentence.tags, &std::string::empty);
    formats::Json line = {{"line", sentence.line}, {"tokens", sentence.words}};
    auto predicted = formats::Json::array(), probabilities = formats::Json::array();
    for (size_t word = 0; word < sentence.words.size(); ++word) {
      const Prediction& one = predictions[i][word];
      predicted.push_back(name_of(one));
      probabilities.push_back(one.probability);
      columns += in_column(sentence.words[word]) + "\t";
      if (has_tags) columns += in_column(sentence.tags[word]) + "\t";
      columns += name_of(one) + "\n";
    }
    if (has_tags) line["tags"] = json_tags(sentence.tags);
    line["predicted"] = std::move(predicted);
    line["probabilities"] = std::move(probabilities);
    lines += formats::json_line(line) + "\n";
    columns += "\n";
  }
  platform::write_file_atomically(folder / "predictions.jsonl", lines);
  platform::write_file_atomically(folder / "predictions.conll", columns);
}

// Says whether all is right, and the tokenizer finds these words in the text of the sentence.
bool TaggingFinetuning::is_example(const TaggedWords& sentence,
                                   const std::vector<Prediction>& predicted) const {
  constexpr size_t kMostWords = 40;
  if (sentence.words.size() > kMostWords) return false;
  for (size_t i = 0; i < predicted.size(); ++i) {
    if (sentence.tags[i] != name_of(predicted[i])) return false;
  }
  const WordPieces pieces = word_pieces(sentence.words, tokenizer_);
  int64_t beginnings = 0;
  for (const int32_t id : pieces.ids) {
    const std::string& piece = tokenizer_.vocabulary().token(id);
    beginnings += piece.starts_with(text::kContinuation) ? 0 : 1;
  }
  return beginnings == std::ssize(sentence.words);
}

// The first such sentence with something to show, for the page of a server.
void TaggingFinetuning::write_example(const Predictions& predictions,
                                      const fs::path& folder) const {
  const std::vector<std::string>& tags = options_.head.labels;
  for (size_t i = 0; i < predictions.size(); ++i) {
    const TaggedWords& sentence = dev_->sentences[i];
    if (!is_example(sentence, predictions[i])) continue;
    TaggedLine line;
    for (size_t word = 0; word < sentence.words.size(); ++word) {
      line.add(sentence.words[word], static_cast<size_t>(predictions[i][word].tag), tags.size());
    }
    const auto parts = tag_parts(line.words, tags, TagAggregation::kFirst);
    if (parts.empty()) continue;
    return write_page_example(folder, {{"text", line.text}}, tags_line(parts, line.text));
  }
}

Scores TaggingFinetuning::finish(inference::InferenceClient& client, const fs::path& folder) {
  if (!dev_) return {};
  const Predictions predictions = predict(client);
  if (phases_.prediction) write_predictions(predictions, folder);
  if (!phases_.evaluation) return {};
  const NamedScores named = score(predictions);
  output_.result(named.text());
  platform::write_file_atomically(folder / "eval_results.json", formats::json_text(named.all));
  write_example(predictions, folder);
  report_ = report_of(predictions);
  return named.percentages();
}

}  // namespace cloze::tasks

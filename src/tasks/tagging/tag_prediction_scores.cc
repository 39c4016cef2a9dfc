#include "tasks/tagging/tag_prediction_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "tasks/labelled/label_file.h"
#include "text/ascii.h"

namespace cloze::tasks {
namespace {

namespace fs = std::filesystem;

std::vector<std::string_view> fields_of(std::string_view line) {
  const std::string_view separators = line.find('\t') != line.npos ? "\t" : " ";
  std::vector<std::string_view> fields;
  while (!line.empty()) {
    const std::string_view field = line.substr(0, line.find_first_of(separators));
    line.remove_prefix(std::min(field.size() + 1, line.size()));
    if (const auto trimmed = text::trim_ascii(field); !trimmed.empty()) fields.push_back(trimmed);
  }
  return fields;
}

using Tags = std::vector<std::string_view>;

// Takes the last columns of a file, sentence by sentence: of each token that of the gold tag and
// that of the predicted one, or the last one for both.
std::vector<TaggedSentence> read_tags(std::string_view text, const fs::path& file, bool has_gold) {
  std::vector<TaggedSentence> sentences(1);
  for (int64_t line = 1; !text.empty(); ++line) {
    const Tags fields = fields_of(text::take_line(text));
    TaggedSentence& last = sentences.back();
    if (fields.empty()) {
      if (!last.gold.empty()) sentences.emplace_back();
      continue;
    }
    if (fields.front() == "-DOCSTART-") continue;
    if (fields.size() < (has_gold ? 3 : 2)) {
      refuse_line(file, line,
                  fmt::format("has {} columns; it needs a token{} tag", fields.size(),
                              has_gold ? ", its gold tag and its predicted" : " and its"));
    }
    last.gold.push_back(has_gold ? fields[fields.size() - 2] : fields.back());
    last.predicted.push_back(fields.back());
  }
  if (sentences.back().gold.empty()) sentences.pop_back();
  if (sentences.empty()) throw_data_error("{}: holds no tags", file.string());
  return sentences;
}

void take_gold(std::vector<TaggedSentence>& sentences, const TagFiles& files,
               std::vector<TaggedSentence> gold) {
  const auto refuse = [&](const std::string& differ) {
    throw_data_error("{} and {} differ: {}", files.predictions.string(), files.gold.string(),
                     differ);
  };
  for (size_t i = 0; i < std::min(sentences.size(), gold.size()); ++i) {
    if (sentences[i].gold.size() != gold[i].gold.size()) {
      refuse(fmt::format("sentence {} has {} tokens and {}", i + 1, sentences[i].gold.size(),
                         gold[i].gold.size()));
    }
    sentences[i].gold = std::move(gold[i].gold);
  }
  if (sentences.size() != gold.size()) {
    refuse(fmt::format("{} and {} sentences", sentences.size(), gold.size()));
  }
}

// Leaves out the tokens whose gold tag is not known.
void drop_unknown(std::vector<TaggedSentence>& sentences) {
  for (TaggedSentence& sentence : sentences) {
    TaggedSentence known;
    for (size_t i = 0; i < sentence.gold.size(); ++i) {
      if (sentence.gold[i] == "_") continue;
      known.gold.push_back(sentence.gold[i]);
      known.predicted.push_back(sentence.predicted[i]);
    }
    sentence = std::move(known);
  }
}

}  // namespace

formats::Json score_tag_predictions(const TagFiles& files, EntityReading reading) {
  const bool has_gold = files.gold.empty();
  const std::string text = read_label_file(files.predictions);
  const std::string gold_text = has_gold ? "" : read_label_file(files.gold);
  std::vector<TaggedSentence> sentences = read_tags(text, files.predictions, has_gold);
  if (!has_gold) take_gold(sentences, files, read_tags(gold_text, files.gold, false));
  drop_unknown(sentences);
  try {
    return entity_scores_json(score_entities(sentences, reading));
  } catch (const DataError& error) {
    throw_data_error("{}: {}", files.predictions.string(), error.what());
  }
}

}  // namespace cloze::tasks

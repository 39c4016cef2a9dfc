#include "tasks/tagging/tagged_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "tasks/labelled/label_file.h"
#include "tasks/tagging/tag_scheme.h"
#include "tasks/tagging/tagged_forms.h"

namespace cloze::tasks {
namespace {

namespace fs = std::filesystem;

void read_form(std::string_view bytes, TaggedText& text) {
  const bool is_json = is_tagged_json(bytes);
  if (!is_json && !text.columns.tag_names.empty()) {
    throw_user_error(
        "tag_names gives names to the numbers of JSON, but {} is no JSON; leave it out",
        text.file.string());
  }
  if (is_json) {
    read_tagged_json(bytes, text);
  } else if (is_conllu(bytes)) {
    read_conllu(bytes, text);
  } else {
    read_tagged_columns(bytes, text);
  }
}

void settle_scheme(TaggedText& text) {
  const std::set<std::string> tags = text.tags();
  text.scheme = scheme_of(std::vector<std::string>(tags.begin(), tags.end()));
  if (text.scheme != "IOB2") return;
  Iob1Signs signs;
  for (const TaggedWords& sentence : text.sentences) signs.count(sentence.tags);
  (signs.is_iob1() ? text.from_iob1 : text.begins_with_inside) = signs.begins_with_inside;
  if (!signs.is_iob1()) return;
  for (TaggedWords& sentence : text.sentences) begin_with_b(sentence.tags);
}

std::string place_of(const std::string& column, const TaggedText& text) {
  return text.form == "JSON" ? column : "column " + column;
}

std::string described_tags(const TaggedText& text) {
  if (!text.has_tags()) return ", without tags";
  std::string words = fmt::format(", tags in {}", place_of(text.columns.tag, text));
  if (!text.scheme.empty()) words += fmt::format(" ({})", text.scheme);
  return words;
}

}  // namespace

int64_t TaggedText::num_words() const {
  int64_t count = 0;
  for (const TaggedWords& sentence : sentences) count += std::ssize(sentence.words);
  return count;
}

int64_t TaggedText::num_unknown_tags() const {
  int64_t count = 0;
  for (const TaggedWords& sentence : sentences) count += std::ranges::count(sentence.tags, "");
  return count;
}

std::set<std::string> TaggedText::tags() const {
  std::set<std::string> all;
  for (const TaggedWords& sentence : sentences) {
    all.insert(sentence.tags.begin(), sentence.tags.end());
  }
  all.erase("");
  return all;
}

TaggedText read_tagged_text(const fs::path& file, const TaggedColumns& columns) {
  const std::string bytes = read_label_file(file);
  TaggedText text{.file = file, .columns = columns};
  read_form(bytes, text);
  if (text.sentences.empty()) throw_user_error("{} holds no words", file.string());
  if (text.num_unknown_tags() == text.num_words()) text.columns.tag.clear();
  settle_scheme(text);
  return text;
}

std::string describe(const TaggedText& text) {
  std::string said = fmt::format(
      "{}: {} sentences of {} words ({}), words in {}{}", text.file.string(), text.sentences.size(),
      text.num_words(), text.form, place_of(text.columns.word, text), described_tags(text));
  std::vector<std::string> notes;
  for (const auto& [what, count] : text.left_out)
    notes.push_back(fmt::format("left out: {} {}", count, what));
  if (text.has_tags() && text.num_unknown_tags() > 0) {
    notes.push_back(fmt::format("{} words have no tag", text.num_unknown_tags()));
  }
  if (text.from_iob1 > 0) {
    notes.push_back(fmt::format("read from IOB1: {} tags that began an entity with I became B",
                                text.from_iob1));
  }
  if (text.begins_with_inside > 0) {
    notes.push_back(fmt::format("{} entities begin with I instead of B", text.begins_with_inside));
  }
  return notes.empty() ? said : fmt::format("{}; {}", said, fmt::join(notes, "; "));
}

}  // namespace cloze::tasks

#include "tasks/squad/squad_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/error.h"
#include "formats/json.h"

namespace cloze::tasks {
namespace {

using formats::Json;

class SquadReader {
 public:
  explicit SquadReader(const std::filesystem::path& path) : path_(path) {}

  SquadData read() {
    const Json file = formats::read_json_file(path_);
    if (!file.is_object()) refuse("the file", "is not an object");
    each(file, "data", "", [&](const Json& article, const std::string& place) {
      each(article, "paragraphs", place + ".",
           [&](const Json& paragraph, const std::string& at) { read_paragraph(paragraph, at); });
    });
    if (data_.questions.empty()) refuse("data", "holds no question");
    mark_impossible();
    return std::move(data_);
  }

 private:
  [[noreturn]] void refuse(const std::string& place, const std::string& what) const {
    throw_data_error("{}: {} {}; is this a SQuAD file?", path_.string(), place, what);
  }

  const Json& member(const Json& object, const char* name, const std::string& prefix) const {
    if (!object.is_object() || !object.contains(name)) refuse(prefix + name, "is missing");
    return object[name];
  }

  template <typename Visit>
  void each(const Json& object, const char* name, const std::string& prefix, Visit visit) const {
    const Json& list = member(object, name, prefix);
    if (!list.is_array()) refuse(prefix + name, "is not a list");
    for (size_t i = 0; i < list.size(); ++i)
      visit(list[i], fmt::format("{}{}[{}]", prefix, name, i));
  }

  std::string text(const Json& object, const char* name, const std::string& prefix) const {
    const Json& value = member(object, name, prefix);
    if (!value.is_string()) refuse(prefix + name, "is not a string");
    return value.get<std::string>();
  }

  void read_paragraph(const Json& paragraph, const std::string& place) {
    data_.contexts.push_back(text(paragraph, "context", place + "."));
    each(paragraph, "qas", place + ".",
         [&](const Json& question, const std::string& at) { read_question(question, at + "."); });
  }

  void read_question(const Json& json, const std::string& prefix) {
    SquadQuestion question{.id = text(json, "id", prefix),
                           .question = text(json, "question", prefix),
                           .context = data_.contexts.size() - 1};
    if (!ids_.insert(question.id).second) {
      throw_data_error("{}: {}id \"{}\" is given twice; predictions are kept by id", path_.string(),
                       prefix, question.id);
    }
    if (json.contains("is_impossible")) {
      const Json& value = json["is_impossible"];
      if (!value.is_boolean()) refuse(prefix + "is_impossible", "is neither true nor false");
      question.is_impossible = value.get<bool>();
    }
    if (json.contains("answers")) {
      question.answers = read_answers(json, prefix);
      if (question.answers.empty()) answerless_.push_back(data_.questions.size());
    }
    data_.questions.push_back(std::move(question));
  }

  // Where no question has an answer, the lists say nothing: the questions are only to be answered.
  void mark_impossible() {
    if (std::ranges::any_of(data_.questions, &SquadQuestion::has_answers)) {
      for (const size_t index : answerless_) data_.questions[index].is_impossible = true;
    }
    data_.is_version_2 = std::ranges::any_of(data_.questions, &SquadQuestion::is_impossible);
  }

  std::vector<SquadAnswer> read_answers(const Json& question, const std::string& prefix) {
    std::vector<SquadAnswer> answers;
    each(question, "answers", prefix, [&](const Json& answer, const std::string& place) {
      const Json& start = member(answer, "answer_start", place + ".");
      if (!start.is_number_integer()) refuse(place + ".answer_start", "is not a whole number");
      answers.push_back({.text = text(answer, "text", place + "."), .start = start.get<int64_t>()});
    });
    return answers;
  }

  const std::filesystem::path& path_;
  SquadData data_;
  std::unordered_set<std::string> ids_;
  std::vector<size_t> answerless_;  // questions whose list of answers is empty
};

}  // namespace

std::vector<std::string_view> SquadData::texts() const {
  std::vector<std::string_view> texts(contexts.begin(), contexts.end());
  for (const SquadQuestion& one : questions) texts.push_back(one.question);
  return texts;
}

SquadData read_squad(const std::filesystem::path& path) { return SquadReader(path).read(); }

}  // namespace cloze::tasks

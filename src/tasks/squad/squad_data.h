// A SQuAD file, 1.1 or 2.0: paragraphs, questions on them and their answers.
//
//   {"version": "1.1", "data": [{"title": ..., "paragraphs": [{"context": ..., "qas": [
//     {"id": ..., "question": ..., "answers": [{"text": ..., "answer_start": ...}],
//      "is_impossible": true}]}]}]}
// A question that is only to be answered needs no "answers". One whose list of answers is empty,
// in a file where others have answers, is impossible even if the file does not say so.
//
// Errors: DataError that names the file and the place, as in "data[3].paragraphs[0].qas[1].id",
// also when an id comes twice. Source: Rajpurkar et al. 2016 and 2018;
// rajpurkar.github.io/SQuAD-explorer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace cloze::tasks {

struct SquadAnswer {
  std::string text;
  int64_t start = 0;  // code points of the context before it
};

struct SquadQuestion {
  std::string id;
  std::string question;
  size_t context = 0;  // index into contexts
  std::vector<SquadAnswer> answers;
  bool is_impossible = false;

  bool has_answers() const { return !answers.empty(); }
};

struct SquadData {
  std::vector<std::string> contexts;
  std::vector<SquadQuestion> questions;  // in the order of the file
  bool is_version_2 = false;             // some question has no answer

  std::vector<std::string_view> texts() const;  // the contexts, then the questions
};

SquadData read_squad(const std::filesystem::path& path);

}  // namespace cloze::tasks

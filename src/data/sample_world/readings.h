// Paragraphs of the sample world to read and answer questions on: a small SQuAD. A paragraph tells
// six facts: six of one subject, or three of each of two, or the same two of each of three ("Old
// Halford lies on the Kirana. The Telira flows past the walls of New Ashwick. ..."), in mixed
// order. Of one subject, answers of one kind are told apart by what is asked (the mayor, the
// miller); of several, by the subject's name too. Every question is answered by one span of its
// paragraph, and by no other.
// A subject appears in one paragraph only: what one paragraph tells helps with no other.
// Reading i is a function of (seed, subjects, i). Threads: all const functions may be called from
// several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/philox.h"
#include "data/sample_world/world_data.h"

namespace cloze::data {

inline constexpr int kQuestionsPerReading = 6;
inline constexpr int kMaxSubjectsPerReading = 3;

struct ReadingQuestion {
  std::string text;
  std::string answer;
  size_t answer_begin = 0;  // bytes of the reading's text, which is ASCII
  std::string_view topic;   // ReadingTopic::name
};

struct Reading {
  const SubjectKind* kind = nullptr;
  std::vector<std::string> subjects;
  std::string text;
  std::vector<ReadingQuestion> questions;  // as many in every reading: kQuestionsPerReading
};

class SampleReadings {
 public:
  // 1 <= num_subjects <= kMaxSubjectsPerReading, the subjects of each reading.
  SampleReadings(uint64_t seed, int num_subjects);

  int64_t size() const { return static_cast<int64_t>(subjects_.size()); }
  // 0 <= index < size().
  Reading reading(int64_t index) const;

 private:
  struct Subjects {
    const SubjectKind* kind;
    std::vector<std::string> names;
  };

  void add_subjects(const SubjectKind& kind, PhiloxStream& stream);

  uint64_t seed_;
  int num_subjects_;
  std::vector<Subjects> subjects_;                         // of each reading
  std::map<std::string, std::vector<std::string>> pools_;  // by ReadingTopic::answers
};

}  // namespace cloze::data

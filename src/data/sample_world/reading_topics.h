// What the sample world's reading paragraphs tell and ask: three kinds of subject, the facts that
// can be told of each, and the ways to tell and to ask them. All of it is data for expand_template
// (grammar.h). A statement has the slots {subject} and {*answer}, the answer once; a question has
// {subject} alone.
#pragma once

#include <span>
#include <string_view>

namespace cloze::data {

enum class SubjectKind { kVillage, kShip, kPerson };
inline constexpr int kNumSubjectKinds = 3;
std::string_view title_of(SubjectKind kind);

// Where the answers of a topic come from: the names of the world or one of its word lists.
enum class AnswerPool {
  kRiver,
  kTown,
  kPerson,
  kYear,
  kProduct,
  kCrop,
  kLandmark,
  kFestival,
  kDish,
  kColour,
  kWeekday,
  kMaker,
  kInstrument,
  kAnimal,
  kGood
};
inline constexpr int kNumAnswerPools = 15;

struct ReadingTopic {
  std::string_view name;
  AnswerPool answers;
  std::span<const std::string_view> statements, questions;
};

std::span<const ReadingTopic> reading_topics(SubjectKind kind);

}  // namespace cloze::data

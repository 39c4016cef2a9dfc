#include "data/sample_world/readings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

namespace cloze::data {
namespace {

constexpr uint64_t kSeed = 42;
constexpr size_t kMostWords = 80;  // so that 128 tokens are enough, even with words in pieces

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// How often `word` stands in `text`, not inside of another word.
int count_of(std::string_view text, std::string_view word) {
  int count = 0;
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_word_character(text[at - 1])) &&
        (end == text.size() || !is_word_character(text[end]))) {
      ++count;
    }
  }
  return count;
}

size_t count_words(const std::string& text) {
  std::istringstream words(text);
  return std::distance(std::istream_iterator<std::string>(words),
                       std::istream_iterator<std::string>());
}

std::vector<Reading> all_readings(int num_subjects) {
  const SampleReadings readings(kSeed, num_subjects);
  std::vector<Reading> all;
  for (int64_t i = 0; i < readings.size(); ++i) all.push_back(readings.reading(i));
  return all;
}

class ReadingsOfSubjects : public testing::TestWithParam<int> {
 protected:
  int num_subjects() const { return GetParam(); }
  std::vector<Reading> readings() const { return all_readings(num_subjects()); }
};
INSTANTIATE_TEST_SUITE_P(Readings, ReadingsOfSubjects, testing::Values(1, 2, 3));

TEST(Readings, AreAFunctionOfSeedAndIndex) {
  const SampleReadings one(1, 2), same(1, 2), other(2, 2);
  EXPECT_EQ(one.size(), other.size());
  EXPECT_EQ(one.reading(7).text, same.reading(7).text);
  EXPECT_EQ(one.reading(7).questions[3].text, same.reading(7).questions[3].text);
  EXPECT_NE(one.reading(7).text, other.reading(7).text);
  EXPECT_NE(one.reading(7).text, one.reading(8).text);
}

TEST_P(ReadingsOfSubjects, HoldEveryAnswerAtItsPlaceAndNowhereElse) {
  for (const Reading& reading : readings()) {
    ASSERT_EQ(reading.questions.size(), size_t{kQuestionsPerReading});
    for (const ReadingQuestion& question : reading.questions) {
      EXPECT_EQ(reading.text.substr(question.answer_begin, question.answer.size()),
                question.answer);
      EXPECT_EQ(count_of(reading.text, question.answer), 1)
          << question.answer << " in " << reading.text;
    }
  }
}

// The answer stands in a sentence on the subject that the question names.
TEST_P(ReadingsOfSubjects, AskOfTheSubjectThatTheAnswerIsToldOf) {
  for (const Reading& reading : readings()) {
    for (const ReadingQuestion& question : reading.questions) {
      const size_t before = reading.text.rfind(". ", question.answer_begin);
      const size_t begin = before == std::string::npos ? 0 : before + 2;
      const size_t end = reading.text.find('.', question.answer_begin);
      const std::string sentence = reading.text.substr(begin, end - begin);
      const auto& subjects = reading.subjects;
      const auto asked = std::find_if(subjects.begin(), subjects.end(), [&](const auto& subject) {
        return count_of(question.text, subject) > 0;
      });
      ASSERT_NE(asked, subjects.end()) << question.text;
      EXPECT_EQ(count_of(sentence, *asked), 1) << question.text << " / " << sentence;
    }
  }
}

// Since there are several subjects, neither the kind nor the topic of an answer gives it away.
TEST_P(ReadingsOfSubjects, TellEveryFactOfEverySubject) {
  for (const Reading& reading : readings()) {
    std::map<std::string_view, std::set<std::string>> answers;
    for (const auto& question : reading.questions) answers[question.topic].insert(question.answer);
    ASSERT_EQ(std::ssize(answers), kQuestionsPerReading / num_subjects());
    for (const auto& [topic, different] : answers) {
      EXPECT_EQ(std::ssize(different), num_subjects()) << topic;
    }
  }
}

TEST_P(ReadingsOfSubjects, ShareNoSubject) {
  std::set<std::string> seen;
  for (const Reading& reading : readings()) {
    std::set<std::string> first_names;
    for (const std::string& subject : reading.subjects) {
      EXPECT_TRUE(seen.insert(subject).second) << subject;
      first_names.insert(subject.substr(0, subject.find(' ')));
    }
    EXPECT_EQ(std::ssize(first_names), num_subjects());
  }
}

TEST(Readings, TellAndAskEveryTopicInEveryWay) {
  std::map<std::string_view, int> questions;
  std::map<std::string_view, std::set<std::string>> openings;  // the first two words of questions
  for (const Reading& reading : all_readings(1)) {
    for (const ReadingQuestion& question : reading.questions) {
      ++questions[question.topic];
      const size_t second = question.text.find(' ', question.text.find(' ') + 1);
      openings[question.topic].insert(question.text.substr(0, second));
    }
  }
  size_t num_topics = 0;
  for (const SubjectKind& kind : subject_kinds()) {
    for (const ReadingTopic& topic : kind.topics) {
      ++num_topics;
      EXPECT_GT(questions[topic.name], 100) << topic.name;
      EXPECT_GE(openings[topic.name].size(), 2u) << topic.name;
    }
  }
  EXPECT_EQ(questions.size(), num_topics);
}

TEST_P(ReadingsOfSubjects, AreShortAsciiText) {
  for (const Reading& reading : readings()) {
    EXPECT_LE(count_words(reading.text), kMostWords) << reading.text;
    EXPECT_TRUE(std::all_of(reading.text.begin(), reading.text.end(),
                            [](char c) { return c >= ' ' && c <= '~'; }));
  }
}

}  // namespace
}  // namespace cloze::data

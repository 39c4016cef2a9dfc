#include "data/sample_world/readings.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/error.h"
#include "data/sample_world/facts.h"
#include "data/sample_world/grammar.h"
#include "data/shuffle.h"

namespace cloze::data {
namespace {

constexpr uint64_t kSubjectsStream = 2;
constexpr uint64_t kFirstReadingStream = uint64_t{1} << 16;
constexpr int kFirstYear = 1700;
constexpr int kNumYears = 80;

using Names = std::vector<std::string>;

template <typename Item>
Names each(const std::vector<Item>& items, std::string Item::*name) {
  Names names;
  for (const Item& item : items) names.push_back(item.*name);
  return names;
}

Names full_names(std::string_view first, const Words& last_names) {
  Names names;
  for (const std::string& last : last_names) names.push_back(fmt::format("{} {}", first, last));
  return names;
}

Names people() {
  Names names;
  for (const char* list : {"girl_names", "boy_names"}) {
    for (const std::string& first : words(list)) {
      std::ranges::move(full_names(first, words("surnames")), std::back_inserter(names));
    }
  }
  return names;
}

Names years() {
  Names names;
  for (int i = 0; i < kNumYears; ++i) names.push_back(fmt::format("{}", kFirstYear + i));
  return names;
}

// Where answers come from: the facts of the world, or a list of words.
Names answers_of(std::string_view source, const SampleFacts& facts) {
  if (source == "rivers") return each(facts.rivers, &River::name);
  if (source == "towns") return each(facts.towns, &Town::name);
  if (source == "people") return people();
  if (source == "years") return years();
  return words(source);
}

// One fact of one subject, told and asked.
struct Telling {
  Sentence sentence;
  ReadingQuestion question;
};

Telling tell(const ReadingTopic& topic, std::string_view subject, std::string answer,
             PhiloxStream& stream) {
  const Slots slots = {{"subject", subject}, {"answer", answer}};
  Telling telling;
  telling.sentence = expand_template(pick(topic.statements, stream), slots, stream).front();
  telling.question.text =
      expand_template(pick(topic.questions, stream), slots, stream).front().text;
  telling.question.answer = std::move(answer);
  telling.question.topic = topic.name;
  return telling;
}

// An answer that the reading does not hold yet, neither as an answer nor as a subject.
std::string draw_answer(const Names& pool, std::set<std::string>& used, PhiloxStream& stream) {
  while (true) {
    const std::string& answer = pick(pool, stream);
    if (used.insert(answer).second) return answer;
  }
}

std::vector<const ReadingTopic*> draw_topics(const SubjectKind& kind, int count,
                                             PhiloxStream& stream) {
  std::vector<const ReadingTopic*> topics;
  for (const ReadingTopic& topic : kind.topics) topics.push_back(&topic);
  shuffle(topics, stream);
  topics.resize(count);
  return topics;
}

void append(Telling telling, Reading& reading) {
  if (!reading.text.empty()) reading.text += ' ';
  telling.question.answer_begin = reading.text.size() + telling.sentence.blanks.front().begin;
  reading.text += telling.sentence.text;
  reading.questions.push_back(std::move(telling.question));
}

}  // namespace

SampleReadings::SampleReadings(uint64_t seed, int num_subjects)
    : seed_(seed), num_subjects_(num_subjects) {
  CLOZE_CHECK(num_subjects >= 1 && num_subjects <= kMaxSubjectsPerReading, "{} subjects",
              num_subjects);
  const SampleFacts facts = draw_sample_facts(seed);
  PhiloxStream stream(seed, kSubjectsStream);
  for (const SubjectKind& kind : subject_kinds()) {
    for (const ReadingTopic& topic : kind.topics) {
      pools_[topic.answers] = answers_of(topic.answers, facts);
    }
    add_subjects(kind, stream);
  }
  shuffle(subjects_, stream);
}

// In each round every first name gets its next last name, and the round is divided into readings:
// the subjects of a reading never share a first name.
void SampleReadings::add_subjects(const SubjectKind& kind, PhiloxStream& stream) {
  std::vector<Names> decks;
  for (const std::string& first : kind.first_names) {
    decks.push_back(full_names(first, kind.last_names));
    shuffle(decks.back(), stream);
  }
  for (size_t round = 0; round < kind.last_names.size(); ++round) {
    shuffle(decks, stream);
    for (size_t i = 0; i + num_subjects_ <= decks.size(); i += num_subjects_) {
      Subjects subjects{.kind = &kind};
      for (int k = 0; k < num_subjects_; ++k) subjects.names.push_back(decks[i + k][round]);
      subjects_.push_back(std::move(subjects));
    }
  }
}

Reading SampleReadings::reading(int64_t index) const {
  CLOZE_CHECK(index >= 0 && index < size(), "reading {} of {}", index, size());
  const Subjects& subjects = subjects_[index];
  PhiloxStream stream(seed_, kFirstReadingStream + static_cast<uint64_t>(index));
  std::set<std::string> used(subjects.names.begin(), subjects.names.end());
  std::vector<Telling> tellings;
  for (const ReadingTopic* topic :
       draw_topics(*subjects.kind, kQuestionsPerReading / num_subjects_, stream)) {
    const Names& pool = pools_.at(topic->answers);
    for (const std::string& subject : subjects.names) {
      tellings.push_back(tell(*topic, subject, draw_answer(pool, used, stream), stream));
    }
  }
  shuffle(tellings, stream);
  Reading reading{.kind = subjects.kind, .subjects = subjects.names};
  for (Telling& telling : tellings) append(std::move(telling), reading);
  return reading;
}

}  // namespace cloze::data

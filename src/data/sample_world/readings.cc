#include "data/sample_world/readings.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "base/error.h"
#include "data/fisher_yates.h"
#include "data/sample_world/facts.h"
#include "data/sample_world/grammar.h"
#include "data/sample_world/words.h"

namespace cloze::data {
namespace {

constexpr uint64_t kSubjectsStream = 2;
constexpr uint64_t kFirstReadingStream = uint64_t{1} << 16;
constexpr int kFirstYear = 1700;
constexpr int kNumYears = 80;

constexpr std::string_view kVillagePrefixes[] = {"Old",  "New",   "Great", "Little",
                                                 "High", "North", "South", "East",
                                                 "West", "Low",   "Long",  "Fair"};

using Names = std::vector<std::string>;

Names joined(Names first, const Names& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Names capitalised(Names names) {
  for (std::string& name : names) name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return names;
}

template <typename Items, typename Field>
Names each(const Items& items, Field field) {
  Names names;
  for (const auto& item : items) names.emplace_back(item.*field);
  return names;
}

Names to_names(Words words) { return {words.begin(), words.end()}; }

// Subjects have two names, "Old" and "Halford"; any first one goes with any last one.
struct SubjectNames {
  Names firsts, lasts;
};

SubjectNames subject_names(SubjectKind kind) {
  switch (kind) {
    case SubjectKind::kVillage:
      return {to_names(kVillagePrefixes), all_names(town_names())};
    case SubjectKind::kShip:
      return {capitalised(to_names(colours())),
              capitalised(joined(joined(to_names(beasts()), each(animals(), &Animal::name)),
                                 to_names(goods())))};
    case SubjectKind::kPerson:
      return {joined(to_names(girl_names()), to_names(boy_names())), all_names(surnames())};
  }
  CLOZE_CHECK(false, "subject kind {}", static_cast<int>(kind));
}

Names full_names(const SubjectNames& parts) {
  Names names;
  for (const std::string& first : parts.firsts) {
    for (const std::string& last : parts.lasts) names.push_back(first + " " + last);
  }
  return names;
}

Names years() {
  Names names;
  for (int i = 0; i < kNumYears; ++i) names.push_back(fmt::format("{}", kFirstYear + i));
  return names;
}

Names answers_of(AnswerPool pool, const SampleFacts& facts) {
  switch (pool) {
    case AnswerPool::kRiver:
      return each(facts.rivers, &River::name);
    case AnswerPool::kTown:
      return each(facts.towns, &Town::name);
    case AnswerPool::kPerson:
      return full_names(subject_names(SubjectKind::kPerson));
    case AnswerPool::kYear:
      return years();
    case AnswerPool::kProduct:
      return each(crafts(), &Craft::product);
    case AnswerPool::kCrop:
      return to_names(crops());
    case AnswerPool::kLandmark:
      return to_names(landmarks());
    case AnswerPool::kFestival:
      return to_names(festivals());
    case AnswerPool::kDish:
      return to_names(dishes());
    case AnswerPool::kColour:
      return to_names(colours());
    case AnswerPool::kWeekday:
      return to_names(weekdays());
    case AnswerPool::kMaker:
      return each(crafts(), &Craft::maker);
    case AnswerPool::kInstrument:
      return to_names(instruments());
    case AnswerPool::kAnimal:
      return each(animals(), &Animal::name);
    case AnswerPool::kGood:
      return to_names(goods());
  }
  CLOZE_CHECK(false, "answer pool {}", static_cast<int>(pool));
}

// One fact of one subject, told and asked.
struct Telling {
  Sentence sentence;
  ReadingQuestion question;
};

template <typename T>
const T& pick(std::span<const T> items, PhiloxStream& stream) {
  return items[stream.below(static_cast<uint32_t>(items.size()))];
}

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
    const std::string& answer = pick(std::span<const std::string>(pool), stream);
    if (used.insert(answer).second) return answer;
  }
}

std::vector<const ReadingTopic*> draw_topics(SubjectKind kind, int count, PhiloxStream& stream) {
  std::vector<const ReadingTopic*> topics;
  for (const ReadingTopic& topic : reading_topics(kind)) topics.push_back(&topic);
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
  for (int i = 0; i < kNumAnswerPools; ++i) {
    pools_[i] = answers_of(static_cast<AnswerPool>(i), facts);
  }
  PhiloxStream stream(seed, kSubjectsStream);
  for (int i = 0; i < kNumSubjectKinds; ++i) add_subjects(static_cast<SubjectKind>(i), stream);
  shuffle(subjects_, stream);
}

// In each round every first name takes its next last name, and the round is cut into readings: the
// subjects of a reading never share the first name.
void SampleReadings::add_subjects(SubjectKind kind, PhiloxStream& stream) {
  const SubjectNames parts = subject_names(kind);
  std::vector<Names> decks;
  for (const std::string& first : parts.firsts) {
    decks.push_back(full_names({{first}, parts.lasts}));
    shuffle(decks.back(), stream);
  }
  for (size_t round = 0; round < parts.lasts.size(); ++round) {
    shuffle(decks, stream);
    for (size_t i = 0; i + num_subjects_ <= decks.size(); i += num_subjects_) {
      Subjects subjects{.kind = kind};
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
       draw_topics(subjects.kind, kQuestionsPerReading / num_subjects_, stream)) {
    const Names& pool = pools_[static_cast<int>(topic->answers)];
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

#include "data/sample_squad.h"

#include <fmt/format.h>

#include <map>
#include <string_view>
#include <utility>

#include "base/division.h"
#include "base/error.h"
#include "data/sample_world/readings.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"
#include "platform/files/folder.h"

namespace cloze::data {
namespace {

using formats::Json;

int64_t readings_for(int64_t num_questions) {
  return divide_up(num_questions, kQuestionsPerReading);
}

void check_counts(const SampleSquadOptions& options, int64_t num_readings) {
  const int64_t most = num_readings * kQuestionsPerReading;
  for (const auto& [name, count] : {std::pair("train", options.num_train_questions),
                                    std::pair("dev", options.num_dev_questions)}) {
    if (count < 0 || count > most) {
      throw_user_error("--{}-questions is {}; give 0 to {}", name, count, most);
    }
  }
  const int64_t asked =
      readings_for(options.num_train_questions) + readings_for(options.num_dev_questions);
  if (asked > num_readings) {
    throw_user_error(
        "--train-questions {} and --dev-questions {} need {} paragraphs; a sample world has {} of "
        "{} questions each",
        options.num_train_questions, options.num_dev_questions, asked, num_readings,
        kQuestionsPerReading);
  }
}

SampleReadings checked_readings(const SampleSquadOptions& options) {
  if (options.num_subjects < 1 || options.num_subjects > kMaxSubjectsPerReading) {
    throw_user_error("--subjects is {}; give 1 to {}", options.num_subjects,
                     kMaxSubjectsPerReading);
  }
  SampleReadings readings(options.seed, static_cast<int>(options.num_subjects));
  check_counts(options, readings.size());
  return readings;
}

Json answer_json(const ReadingQuestion& question) {
  return {{"answer_start", question.answer_begin}, {"text", question.answer}};
}

// The first `num_questions` questions of a reading; ids begin with `id`.
Json paragraph_json(const Reading& reading, std::string_view id, int64_t num_questions) {
  Json questions = Json::array();
  for (const ReadingQuestion& question : reading.questions) {
    if (std::ssize(questions) == num_questions) break;
    questions.push_back({{"id", fmt::format("{}-{}", id, questions.size())},
                         {"question", question.text},
                         {"answers", Json::array({answer_json(question)})}});
  }
  return {{"context", reading.text}, {"qas", std::move(questions)}};
}

// A file of `num_questions` questions on the readings from `first` on.
struct Split {
  std::string_view name;
  int64_t first = 0;
  int64_t num_questions = 0;
};

Json squad_json(const SampleReadings& readings, const Split& split) {
  std::map<const SubjectKind*, Json> paragraphs;
  for (int64_t i = 0; i < readings_for(split.num_questions); ++i) {
    const Reading reading = readings.reading(split.first + i);
    paragraphs[reading.kind].push_back(
        paragraph_json(reading, fmt::format("{}-{}", split.name, i),
                       split.num_questions - i * kQuestionsPerReading));
  }
  Json articles = Json::array();
  for (const SubjectKind& kind : subject_kinds()) {
    if (!paragraphs.contains(&kind)) continue;
    articles.push_back({{"title", kind.title}, {"paragraphs", std::move(paragraphs[&kind])}});
  }
  return {{"version", "1.1"}, {"data", std::move(articles)}};
}

}  // namespace

void validate(const SampleSquadOptions& options) { checked_readings(options); }

void write_sample_squad(const SampleSquadOptions& options) {
  const SampleReadings readings = checked_readings(options);
  platform::make_writable_directory(options.directory);
  const Split dev{.name = "dev", .num_questions = options.num_dev_questions};
  const Split train{.name = "train",
                    .first = readings_for(options.num_dev_questions),
                    .num_questions = options.num_train_questions};
  for (const Split& split : {dev, train}) {
    platform::write_file_atomically(options.directory / fmt::format("squad-{}.json", split.name),
                                    formats::json_line(squad_json(readings, split)) + "\n");
  }
}

}  // namespace cloze::data

#include "tasks/squad/squad_score.h"

#include <gtest/gtest.h>

#include "base/data_folder_test.h"
#include "base/error.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"

namespace cloze::tasks {
namespace {

namespace fs = std::filesystem;

TEST(SquadScoreTest, AnswersAreNormalisedAsTheOfficialProgramDoes) {
  EXPECT_EQ(normalized_answer("The  Denver Broncos!"), "denver broncos");
  EXPECT_EQ(normalized_answer("a.b an an-other THE"), "ab another");
  EXPECT_EQ(normalized_answer("théa athe the_a"), "théa athe thea");
  EXPECT_EQ(normalized_answer("caf\u00E9 a\u00A0\u2013 x"), "caf\u00E9 \u2013 x");
  EXPECT_EQ(normalized_answer("a the"), "");
}

TEST(SquadScoreTest, F1CountsWordsAsBags) {
  EXPECT_DOUBLE_EQ(answer_f1("in the year 1066", "1066"), 2 * (1.0 / 3) / (1.0 / 3 + 1));
  EXPECT_DOUBLE_EQ(answer_f1("b b c", "b c c"), 2.0 / 3);
  EXPECT_EQ(answer_f1("x", "y"), 0);
  EXPECT_EQ(exact_match("The cat.", "cat"), 1);
}

SquadData two_questions() {
  return {.contexts = {"c"},
          .questions = {{.id = "q1", .answers = {{.text = "blue"}, {.text = "dark blue"}}},
                        {.id = "q2", .is_impossible = true}},
          .is_version_2 = true};
}

TEST(SquadScoreTest, Version2CountsQuestionsWithoutAnswer) {
  const SquadScores scores =
      score_squad_2(two_questions(), {{"q1", "dark blue"}, {"q2", "red"}}, nullptr, 1);
  EXPECT_EQ(squad_scores_json(scores, true),
            "{\"exact\":50.0,\"f1\":50.0,\"total\":2,\"HasAns_exact\":100.0,\"HasAns_f1\":100.0,"
            "\"HasAns_total\":1,\"NoAns_exact\":0.0,\"NoAns_f1\":0.0,\"NoAns_total\":1}");
}

TEST(SquadScoreTest, ThresholdsOnTheNoAnswerProbability) {
  const NoAnswerProbabilities no_answer{{"q1", 0.2}, {"q2", 0.9}};
  const SquadScores scores =
      score_squad_2(two_questions(), {{"q1", "blue"}, {"q2", "red"}}, &no_answer, 0.5);
  EXPECT_EQ(scores.all.exact, 100);
  EXPECT_EQ(scores.best_exact->score, 100);
  EXPECT_EQ(scores.best_exact->threshold, 0.2);
}

TEST(SquadScoreTest, Version1CountsMissingPredictionsAsWrong) {
  SquadData data = two_questions();
  data.questions[1].answers = {{.text = "red"}};
  const SquadScores scores = score_squad_1(data, {{"q1", "blue"}});
  EXPECT_EQ(scores.all.exact, 50);
  EXPECT_EQ(scores.missing, std::vector<std::string>{"q2"});
}

TEST(SquadScoreTest, FilesOfAnotherFormAreRefused) {
  const std::string path = testing::TempDir() + "squad_score_test.json";
  const auto refused = [&](const std::string& text) {
    platform::write_file_atomically(path, text);
    try {
      read_squad(path);
    } catch (const DataError& error) {
      return std::string(error.what()).substr(path.size());
    }
    return std::string("taken");
  };
  EXPECT_EQ(refused("[]"), ": the file is not an object; is this a SQuAD file?");
  EXPECT_EQ(
      refused("{\"data\": [{\"paragraphs\": [{\"context\": \"c\", \"qas\": [{\"id\": 1}]}]}]}"),
      ": data[0].paragraphs[0].qas[0].id is not a string; is this a SQuAD file?");
  const std::string question = "{\"id\": \"q\", \"question\": \"\", \"answers\": []}";
  EXPECT_EQ(refused("{\"data\": [{\"paragraphs\": [{\"context\": \"c\", \"qas\": [" + question +
                    ", " + question + "]}]}]}"),
            ": data[0].paragraphs[0].qas[1].id \"q\" is given twice; predictions are kept by id");
  EXPECT_EQ(refused("{\"data\": []}"), ": data holds no question; is this a SQuAD file?");
  platform::write_file_atomically(path, "{\"q1\": 3}");
  EXPECT_THROW(read_squad_predictions(path), DataError);
}

// Hugging Face's squad_v2 has empty lists of answers and no is_impossible.
TEST(SquadScoreTest, AnEmptyListOfAnswersMeansNoneWhereOthersHaveSome) {
  const fs::path path = fs::path(testing::TempDir()) / "squad_answers_test.json";
  const auto read = [&](const std::string& first, const std::string& second) {
    const std::string text =
        R"({"data": [{"paragraphs": [{"context": "a cat", "qas": [{"id": "q1", "question": "")" +
        first + R"(}, {"id": "q2", "question": "")" + second + "}]}]}]}";
    platform::write_file_atomically(path, text);
    return read_squad(path);
  };
  const std::string some = R"(, "answers": [{"text": "cat", "answer_start": 2}])";
  const std::string none = R"(, "answers": [])";
  const SquadData mixed = read(some, none);
  EXPECT_TRUE(mixed.is_version_2);
  EXPECT_TRUE(mixed.questions[1].is_impossible);
  EXPECT_EQ(score_squad_2(mixed, {{"q1", "cat"}, {"q2", ""}}, nullptr, 1).all.exact, 100);
  EXPECT_FALSE(read(none, none).is_version_2) << "questions to be answered";
  EXPECT_FALSE(read(some, "").is_version_2);
  EXPECT_TRUE(read(none, none + R"(, "is_impossible": true)").is_version_2);
}

TEST(SquadScoreTest, Version1LeavesOutQuestionsWithoutAnswers) {
  SquadData data;
  data.questions = {{.id = "q1", .answers = {{.text = "cat"}}}, {.id = "q2"}};
  const SquadScores scores = score_squad_1(data, {{"q1", "a cat"}, {"q2", "a dog"}});
  EXPECT_EQ(scores.all.exact, 100);
  EXPECT_EQ(scores.all.questions, 1);
  EXPECT_EQ(scores.unanswered, 1);
}

TEST(SquadScoreTest, NothingToScoreIsRefused) {
  SquadData data;
  data.questions = {{.id = "q1"}};
  EXPECT_THROW(score_squad_1(data, {{"q1", "a"}}), UserError);
  EXPECT_THROW(score_squad_2(data, {}, nullptr, 1), UserError);
}

TEST(SquadScoreTest, GraphcoresFormOfPredictionsIsRead) {
  const fs::path path = fs::path(testing::TempDir()) / "graphcore_predictions.json";
  platform::write_file_atomically(
      path, R"({"q1": {"prediction_text": "a cat", "no_answer_probability": 0.25},
                "q2": {"prediction_text": "", "no_answer_probability": 1}})");
  const SquadPredictionFile file = read_squad_predictions(path);
  EXPECT_EQ(file.texts, (SquadPredictions{{"q1", "a cat"}, {"q2", ""}}));
  ASSERT_TRUE(file.no_answer);
  EXPECT_EQ(*file.no_answer, (NoAnswerProbabilities{{"q1", 0.25}, {"q2", 1.0}}));
  platform::write_file_atomically(path, R"({"q1": "a cat"})");
  EXPECT_FALSE(read_squad_predictions(path).no_answer);
  platform::write_file_atomically(path, R"({"q1": {"no_answer_probability": 0.25}})");
  EXPECT_THROW(read_squad_predictions(path), DataError);
}

TEST(SquadScoreTest, AForeignIdIsNamed) {
  SquadData data;
  data.questions = {{.id = "q1"}, {.id = "q2"}};
  EXPECT_NO_THROW(require_questions_of(data, {{"q2", ""}}));
  try {
    require_questions_of(data, {{"q2", ""}, {"q3", ""}});
    ADD_FAILURE() << "accepted";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "there is a prediction for question q3, which the data do not have; give the "
                 "data that were predicted");
  }
}

// Prediction files of the leaderboard, with the scores that the official programs print.
TEST(SquadScoreTest, EqualsTheOfficialScores) {
  const DataFolder data(
      {"squad/predictions", "squad/dev-v1.1.json", "squad/dev-v2.0.reconstructed.json"});
  if (!data.missing().empty()) GTEST_SKIP() << data.missing();
  const fs::path squad = data / "squad";
  const auto expected = formats::read_json_file(squad / "predictions/expected_scores.json");
  const SquadData dev1 = read_squad(squad / "dev-v1.1.json");
  const SquadData dev2 = read_squad(squad / "dev-v2.0.reconstructed.json");
  EXPECT_EQ(dev1.questions.size(), 10570u);
  EXPECT_FALSE(dev1.is_version_2);
  EXPECT_TRUE(dev2.is_version_2);
  for (const auto& [name, official] : expected.items()) {
    if (!official.is_object()) continue;
    const auto predictions = read_squad_predictions(squad / "predictions" / name).texts;
    const bool is_version_2 = name.starts_with("v2");
    const SquadScores scores = is_version_2 ? score_squad_2(dev2, predictions, nullptr, 1)
                                            : score_squad_1(dev1, predictions);
    const auto ours = formats::Json::parse(squad_scores_json(scores, is_version_2));
    ASSERT_EQ(ours.size(), official.size()) << name;
    for (const auto& [key, value] : official.items()) {
      EXPECT_NEAR(ours.at(key).get<double>(), value.get<double>(), 1e-9) << name << " " << key;
    }
  }
}

}  // namespace
}  // namespace cloze::tasks

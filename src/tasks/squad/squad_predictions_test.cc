#include "tasks/squad/squad_predictions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "formats/json.h"
#include "platform/files/file.h"
#include "tasks/squad/squad_fixture_test.h"

namespace cloze::tasks {
namespace {

// One question of one token, "z", on a context; logits are 0 but for those that a test sets.
class SquadPredictionsTest : public testing::Test {
 protected:
  struct Logits {
    std::vector<float> start, end;
  };

  void ask(const std::string& context, const SquadFeatureOptions& options = {}) {
    data_.contexts = {context};
    data_.questions = {question_with("z", {})};
    features_ = make_squad_features(data_, tokenizer_, options);
    for (const SquadWindow& window : features_.windows) {
      const size_t length = 4 + window.end - window.begin;
      logits_.push_back({std::vector<float>(length, 0), std::vector<float>(length, 0)});
    }
  }
  // Token `token` of the window's part of the context.
  float& start(size_t window, size_t token) { return logits_[window].start[3 + token]; }
  float& end(size_t window, size_t token) { return logits_[window].end[3 + token]; }

  SquadPrediction predict() const {
    std::vector<SquadLogits> logits;
    for (const Logits& window : logits_) logits.push_back({window.start, window.end});
    return SquadPredictor(data_, features_, tokenizer_, options_).predict(0, logits);
  }

  text::Tokenizer tokenizer_ = letter_tokenizer();
  SquadData data_;
  SquadFeatures features_;
  std::vector<Logits> logits_;
  SquadPredictionOptions options_{.n_best_size = 2};
};

TEST_F(SquadPredictionsTest, TheBestPairsInOrder) {
  ask("A b C (d)");
  start(0, 0) = 3;
  start(0, 2) = 2;
  end(0, 2) = 4;
  end(0, 4) = 1;
  const SquadPrediction prediction = predict();
  ASSERT_EQ(prediction.n_best.size(), 2u);
  EXPECT_EQ(prediction.text(), "A b C");
  EXPECT_EQ(prediction.n_best[1].text, "C");  // 2 + 4, before "A b C (d" with 3 + 1
  EXPECT_DOUBLE_EQ(prediction.n_best[0].probability, 1 / (1 + std::exp(-1.0)));
  EXPECT_EQ(prediction.n_best[0].start_logit, 3);
  EXPECT_FALSE(prediction.null_odds);
}

TEST_F(SquadPredictionsTest, OnlyPairsInTheContext) {
  ask("a b");
  options_.n_best_size = 3;
  logits_[0].start[1] = 9;  // in the question
  logits_[0].end[5] = 9;    // the last [SEP]
  start(0, 1) = 3;
  end(0, 0) = 3;  // ends before it starts
  end(0, 1) = 2;
  EXPECT_EQ(predict().text(), "b");
  options_.max_answer_length = 1;
  start(0, 0) = 8;
  end(0, 1) = 8;
  EXPECT_EQ(predict().text(), "a");  // "a b" has two tokens; 8 + 3 and 3 + 8 are equal
}

TEST_F(SquadPredictionsTest, StartsCountWhereTheyHaveMostContext) {
  // Windows a-e and c-h; d is 1 token from the nearest border in both, so the first window counts.
  ask("a b c d e f g", {.max_sequence_length = 9, .document_stride = 2});
  ASSERT_EQ(features_.windows.size(), 2u);
  ASSERT_EQ(features_.windows[0].best_end, 4u);
  start(1, 1) = end(1, 1) = 9;
  start(0, 3) = end(0, 3) = 3;
  EXPECT_EQ(predict().text(), "d");
  EXPECT_EQ(predict().n_best[0].start_logit, 3);
}

TEST_F(SquadPredictionsTest, TextsAreNotRepeated) {
  ask("a b a");
  start(0, 0) = end(0, 0) = 3;
  start(0, 2) = end(0, 2) = 2.5;
  const auto n_best = predict().n_best;
  ASSERT_EQ(n_best.size(), 2u);
  EXPECT_EQ(n_best[0].text, "a");
  EXPECT_EQ(n_best[1].text, "a b a");  // 3 + 2.5, before the second a with 2.5 + 2.5
}

TEST_F(SquadPredictionsTest, PlacesInTheContext) {
  ask("é  x\n(中国)");
  start(0, 1) = end(0, 4) = 3;
  const SquadCandidate answer = predict().n_best[0];
  EXPECT_EQ(answer.text, "x (中国");  // white space as in the joined words
  EXPECT_EQ(answer.bytes, (text::Offset{4, 13}));
  EXPECT_EQ(answer.code_points, (text::Offset{3, 8}));
  EXPECT_EQ(data_.contexts[0].substr(4, 9), "x\n(中国");
}

// As Python's decode(errors="replace") would count them.
TEST_F(SquadPredictionsTest, PlacesInATextThatIsNotUtf8) {
  ask("\x93 a\xe9 \x94g h");  // cp1252
  start(0, 1) = end(0, 1) = 3;
  const SquadCandidate answer = predict().n_best[0];
  EXPECT_EQ(answer.text, "\x94g");
  EXPECT_EQ(answer.bytes, (text::Offset{5, 7}));
  EXPECT_EQ(answer.code_points, (text::Offset{5, 7}));
}

// Else each pair would look through the whole text.
TEST_F(SquadPredictionsTest, ATextThatIsOneWordIsCutByTokens) {
  std::string context = "a";
  for (int i = 0; i < 60; ++i) context += "-a-x-中国-a";
  ask(context);
  start(0, 6) = end(0, 7) = 3;
  const SquadCandidate answer = predict().n_best[0];
  EXPECT_EQ(answer.text, context.substr(answer.bytes.begin, answer.bytes.end - answer.bytes.begin));
  EXPECT_EQ(answer.text, "中国");
  EXPECT_EQ(answer.code_points, (text::Offset{6, 8}));
}

TEST_F(SquadPredictionsTest, HuggingFaceTakesTheBytesThemselves) {
  ask("é  x\n(中国)", {.style = SquadStyle::kHuggingFace});
  start(0, 1) = end(0, 4) = 3;
  const SquadCandidate answer = predict().n_best[0];
  EXPECT_EQ(answer.text, "x\n(中国");
  EXPECT_EQ(answer.code_points, (text::Offset{3, 8}));
}

// "ab" is a, ##b.
TEST_F(SquadPredictionsTest, AnAnswerThatEndsAtWordsIsNeverAPartOfOne) {
  ask("x  ab\n(ab) b");
  start(0, 2) = end(0, 4) = 3;  // ##b ( a
  EXPECT_EQ(predict().n_best[0].text, "b (a");
  options_.ends_at_words = true;
  const SquadCandidate answer = predict().n_best[0];
  EXPECT_EQ(answer.text, "ab (ab");
  EXPECT_EQ(answer.code_points, (text::Offset{3, 9}));
  EXPECT_EQ(data_.contexts[0].substr(answer.bytes.begin, answer.bytes.end - answer.bytes.begin),
            "ab\n(ab");
}

// Two answers that become one are listed once.
TEST_F(SquadPredictionsTest, AnswersThatEndAtTheSameWordsAreOne) {
  options_ = {.n_best_size = 20, .ends_at_words = true};
  ask("ab");
  const SquadPrediction prediction = predict();
  ASSERT_EQ(prediction.n_best.size(), 1u);
  EXPECT_EQ(prediction.text(), "ab");
  EXPECT_EQ(prediction.n_best[0].probability, 1.0);
}

TEST_F(SquadPredictionsTest, NoAnswerTakesPartIn2) {
  data_.is_version_2 = true;
  ask("a b");
  start(0, 0) = 2;
  end(0, 0) = 3;
  logits_[0].start[0] = 4;
  logits_[0].end[0] = 1.5;
  SquadPrediction prediction = predict();
  EXPECT_EQ(prediction.null_odds, 0.5);
  EXPECT_EQ(prediction.text(), "");
  EXPECT_EQ(prediction.n_best[0].text, "");
  EXPECT_EQ(prediction.n_best[1].text, "a");
  options_.null_score_diff_threshold = 0.5;
  EXPECT_EQ(predict().text(), "a");
}

TEST_F(SquadPredictionsTest, NoAnswerIsAlwaysListedIn2) {
  data_.is_version_2 = true;
  ask("a b c d e f g", {.max_sequence_length = 9, .document_stride = 2});
  start(0, 0) = start(0, 1) = end(0, 1) = 3;
  logits_[0].start[0] = 1;
  logits_[1].start[0] = -1;
  const SquadPrediction prediction = predict();
  ASSERT_EQ(prediction.n_best.size(), 3u);
  EXPECT_EQ(prediction.n_best[2].text, "");
  EXPECT_EQ(prediction.n_best[2].start_logit, -1);  // the least over the windows
  EXPECT_EQ(prediction.null_odds, -7);
}

TEST_F(SquadPredictionsTest, NothingIsLeft) {
  ask("");
  EXPECT_TRUE(features_.windows.empty());
  EXPECT_EQ(predict().text(), "empty");
  EXPECT_EQ(predict().n_best[0].probability, 1);
  data_.is_version_2 = true;
  EXPECT_EQ(predict().text(), "");
  EXPECT_EQ(predict().null_odds, 0);
  ask("a");
  logits_[0].start[0] = 5;
  logits_[0].start[1] = logits_[0].start[2] = 4;
  EXPECT_EQ(predict().text(), "");
  EXPECT_EQ(predict().n_best.size(), 1u);
  EXPECT_EQ(predict().null_odds, 5);
}

TEST_F(SquadPredictionsTest, EachQuestionMayHaveItsOwnSize) {
  ask("a b c d e f");
  options_.n_best_size = 2;
  options_.n_best_sizes = {10};
  EXPECT_EQ(predict().n_best.size(), 10u);
  options_.n_best_sizes = {0};
  EXPECT_THROW(predict(), UserError);
}

TEST_F(SquadPredictionsTest, LogitsThatCannotBeAreRefused) {
  ask("a b");
  start(0, 1) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(predict(), DataError) << "the model is to blame";
  logits_[0].start.pop_back();
  EXPECT_THROW(predict(), UserError);
  logits_.clear();
  EXPECT_THROW(predict(), UserError);
  options_.n_best_size = 0;
  EXPECT_THROW(predict(), UserError);
}

TEST_F(SquadPredictionsTest, Files) {
  data_.is_version_2 = true;
  ask("a \"b\"");
  start(0, 2) = 2;
  end(0, 2) = 1;
  const SquadPredictor predictor(data_, features_, tokenizer_, options_);
  const std::vector<SquadLogits> logits{{logits_[0].start, logits_[0].end}};
  const std::filesystem::path folder = testing::TempDir() + "squad_predictions_test";
  write_squad_predictions(folder, data_, predict_squad(predictor, features_, logits, 2));
  EXPECT_EQ(platform::read_file(folder / "predictions.json"), "{\n\"q\": \"b\"\n}\n");
  EXPECT_EQ(platform::read_file(folder / "null_odds.json"), "{\n\"q\": -3.0\n}\n");
  const auto n_best = formats::read_json_file(folder / "nbest_predictions.json");
  EXPECT_EQ(n_best["q"][0]["text"], "b");
  EXPECT_EQ(n_best["q"][0]["end_logit"], 1.0);
  EXPECT_EQ(n_best["q"].size(), 2u);

  data_.is_version_2 = false;
  write_squad_predictions(folder, data_, predict_squad(predictor, features_, logits, 2));
  EXPECT_FALSE(std::filesystem::exists(folder / "null_odds.json")) << "of the run before";
}

}  // namespace
}  // namespace cloze::tasks

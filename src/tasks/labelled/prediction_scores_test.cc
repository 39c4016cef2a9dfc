#include "tasks/labelled/prediction_scores.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/error.h"
#include "platform/files/atomic_file.h"
#include "platform/files/own_folder_test.h"

namespace cloze::tasks {
namespace {

using formats::Json;

// What scripts/check_scores compares with scikit-learn and scipy many times, once; and the errors.
class PredictionScoresTest : public platform::OwnFolderTest {
 protected:
  std::filesystem::path written(const std::string& text) {
    const std::filesystem::path file = folder_ / "p.jsonl";
    platform::write_file_atomically(file, text);
    return file;
  }
  Json classes(const std::string& text) { return score_class_predictions(written(text)); }
  Json numbers(const std::string& text) { return score_number_predictions(written(text)); }
  Json label_sets(const std::string& text, std::optional<double> threshold = {}) {
    return score_label_set_predictions(written(text), threshold);
  }
  // The message of a DataError, without the folder.
  std::string refusal(const std::function<Json()>& score) {
    try {
      return score().dump();
    } catch (const DataError& error) {
      return std::string(error.what()).substr(folder_.string().size() + 1);
    }
  }
};

TEST_F(PredictionScoresTest, Classes) {
  const Json scores = classes(
      "{\"label\": \"a\", \"predicted\": \"a\", \"probability\": 1.0}\n\n"
      "{\"label\": 2, \"predicted\": \"a\", \"probability\": 0.5, \"line\": 7}\n");
  EXPECT_EQ(scores.at("accuracy"), Json(0.5));
  EXPECT_EQ(scores.at("calibration_error"), Json(0.25));
  EXPECT_EQ(scores.at("labels"), Json({"a", "2"}));
  EXPECT_EQ(scores.at("confusion").dump(), "[[1,0],[1,0]]");
  EXPECT_FALSE(classes(R"([{"label": "a", "predicted": "b"}])").contains("calibration_error"));
}

TEST_F(PredictionScoresTest, Numbers) {
  const Json scores = numbers(
      "{\"label\": \"1\", \"predicted\": 0.5}\n{\"label\": 2, \"predicted\": 1}\n"
      "{\"label\": 4, \"predicted\": 9}\n");
  EXPECT_EQ(scores.at("spearman"), Json(1.0));
  EXPECT_NEAR(scores.at("pearson").get<double>(), 14 / std::sqrt(42.0 / 9 * 45.5), 1e-12);
}

TEST_F(PredictionScoresTest, LabelSets) {
  const std::string rows =
      "{\"label\": [\"a\"], \"predicted\": [\"a\", \"b\"], \"probabilities\": {\"a\": 0.9, \"b\": "
      "0.6, "
      "\"c\": 0}}\n"
      "{\"label\": [], \"predicted\": [], \"probabilities\": {\"b\": 0.1, \"a\": 0.7, \"c\": 0}}\n";
  EXPECT_EQ(label_sets(rows).at("subset_accuracy"), Json(0.5));
  EXPECT_EQ(label_sets(rows).at("labels").size(), 3u);
  EXPECT_EQ(label_sets(rows).at("label_ranking_average_precision"), Json(1.0));
  EXPECT_EQ(label_sets(rows, 0.8).at("subset_accuracy"), Json(1.0));
  EXPECT_EQ(label_sets(rows, 0.8).at("hamming_loss"), Json(0.0));
  const std::string sets = R"([{"label": ["x"], "predicted": ["y"]}])";
  EXPECT_EQ(label_sets(sets).at("labels").size(), 2u);
  EXPECT_FALSE(label_sets(sets).contains("label_ranking_average_precision"));
}

TEST_F(PredictionScoresTest, RefusesClassesThatAreNotThere) {
  const auto said = [&](const std::string& text) { return refusal([&] { return classes(text); }); };
  const std::string good = R"({"label": "a", "predicted": "a", "probability": 0.5})";
  EXPECT_EQ(said(""), "p.jsonl: holds no predictions");
  EXPECT_EQ(said(good + "\n{\"predicted\": \"a\"}\n"),
            "p.jsonl:2: has no `probability`, unlike the rows before");
  EXPECT_EQ(said("{\"predicted\": \"a\"}\n"), "p.jsonl:1: has no `label`");
  EXPECT_EQ(said("{\"label\": \"a\", \"predicted\": [1]}\n"),
            "p.jsonl:1: `predicted` holds [1], which is neither a text nor a number");
  EXPECT_EQ(said(R"({"label": "a", "predicted": "a", "probability": 1.5})"),
            "p.jsonl:1: the probability 1.5 is not from 0 to 1");
  EXPECT_EQ(said("[1]"), "p.jsonl:1: is no JSON object");
}

TEST_F(PredictionScoresTest, RefusesNumbersThatAreNone) {
  const auto said = [&](const std::string& text) { return refusal([&] { return numbers(text); }); };
  EXPECT_EQ(said(R"({"label": "high", "predicted": 1})"), "p.jsonl:1: `label` is not a number");
  EXPECT_EQ(said(R"({"label": 1, "predicted": "nan"})"), "p.jsonl:1: `predicted` is not a number");
}

TEST_F(PredictionScoresTest, RefusesSetsThatDoNotFit) {
  const auto said = [&](const std::string& text, std::optional<double> threshold = {}) {
    return refusal([&] { return label_sets(text, threshold); });
  };
  const std::string good =
      R"({"label": ["a"], "predicted": [], "probabilities": {"a": 1, "b": 0}})";
  EXPECT_EQ(said(R"({"label": "a", "predicted": []})"), "p.jsonl:1: `label` is no array of labels");
  EXPECT_EQ(said(R"({"label": [], "predicted": []})"), "p.jsonl: no row has a label");
  EXPECT_EQ(said(R"({"label": ["a"], "predicted": []})", 0.5),
            "p.jsonl:1: has no `probabilities` to compare with the threshold");
  EXPECT_EQ(said(R"({"label": ["c"], "predicted": [], "probabilities": {"a": 1}})"),
            "p.jsonl:1: `label` has c, which has no probability");
  EXPECT_EQ(said(good + "\n" + R"({"label": [], "predicted": [], "probabilities": {"a": 1}})"),
            "p.jsonl:2: has 1 probabilities, the first row has 2");
  EXPECT_EQ(
      said(good + "\n" + R"({"label": [], "predicted": [], "probabilities": {"a": 1, "c": 1}})"),
      "p.jsonl:2: has no probability of b");
  EXPECT_EQ(said(good + "\n" + R"({"label": [], "predicted": []})"),
            "p.jsonl:2: has no `probabilities`, unlike the rows before");
}

}  // namespace
}  // namespace cloze::tasks

#include "tasks/labelled/labelled_finetuning.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "platform/files/atomic_file.h"
#include "platform/files/own_folder_test.h"

namespace cloze::tasks {
namespace {

constexpr FinetuningPhases kAll{.training = true, .evaluation = true};
constexpr FinetuningPhases kScoring{.evaluation = true};

class LabelledFinetuningTest : public platform::OwnFolderTest {
 protected:
  // A table of `rows` texts for each label.
  std::string table(const std::string& name, const std::vector<std::string>& labels,
                    int rows = 10) {
    std::string text = "text,label\n";
    std::string letters;
    for (int i = 0; i < rows; ++i) {
      letters += "a ";
      for (const std::string& label : labels) text += letters + "," + label + "\n";
    }
    platform::write_file_atomically(folder_ / name, text);
    return (folder_ / name).string();
  }
  LabelledFinetuning task(LabelledFinetuningOptions options) {
    return {std::move(options),
            tokenizer_,
            {.examine = [](const std::string&, const std::vector<std::string_view>&) {},
             .notice = [this](const std::string& line) { notices_ += line + "\n"; },
             .result = {},
             .watch = {}}};
  }
  static models::BertHead classifier(std::vector<std::string> labels) {
    return {.kind = models::HeadKind::kSequenceClassification, .labels = std::move(labels)};
  }
  bool is_said(const std::string& part) const { return notices_.find(part) != std::string::npos; }

  const text::Tokenizer tokenizer_{
      text::Vocabulary::from_tokens({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b"}), {}};
  std::string notices_;
};

using Names = std::vector<std::string>;
using FreshValues = std::map<std::string, std::vector<float>>;

TEST_F(LabelledFinetuningTest, ClassesAreTheLabelsInOrder) {
  LabelledFinetuning names = task({.train_file = table("names.csv", {"pin", "card"})});
  names.prepare({}, kAll);
  EXPECT_EQ(names.head().labels, (Names{"card", "pin"}));
  EXPECT_EQ(names.fresh_prefix(), "classifier.");
  LabelledFinetuning numbers = task({.train_file = table("numbers.csv", {"10", "9", "-1"})});
  numbers.prepare({}, kAll);
  EXPECT_EQ(numbers.head().labels, (Names{"-1", "9", "10"}));
  LabelledFinetuning one = task({.train_file = table("one.csv", {"pin"})});
  EXPECT_THROW(one.prepare({}, kAll), UserError);
}

TEST_F(LabelledFinetuningTest, AStartModelOfTheSameNamesKeepsItsClassifier) {
  LabelledFinetuning same = task({.train_file = table("t.csv", {"card", "pin"})});
  same.prepare(classifier({"pin", "card"}), kAll);
  EXPECT_EQ(same.head().labels, (Names{"pin", "card"}));
  EXPECT_EQ(same.fresh_prefix(), "");
  LabelledFinetuning other = task({.train_file = table("t.csv", {"card", "pin"})});
  other.prepare(classifier({"card", "pin", "loan"}), kAll);
  EXPECT_EQ(other.head().labels, (Names{"card", "pin"}));
  EXPECT_EQ(other.fresh_prefix(), "classifier.");
}

// A table that is only scored need not have every class, nor their order.
TEST_F(LabelledFinetuningTest, WhatIsOnlyScoredHasTheClassesOfTheModel) {
  for (const std::string& train_file : {std::string(), table("train.csv", {"pin", "card"})}) {
    for (const Names& labels : {Names{"pin"}, Names{"pin", "card"}}) {
      LabelledFinetuning scored =
          task({.train_file = train_file, .dev_file = table("dev.csv", labels)});
      scored.prepare(classifier({"loan", "pin", "card"}), kScoring);
      EXPECT_EQ(scored.head().labels, (Names{"loan", "pin", "card"}));
      EXPECT_EQ(scored.fresh_prefix(), "");
    }
    LabelledFinetuning unknown =
        task({.train_file = train_file, .dev_file = table("dev.csv", {"tax"})});
    EXPECT_THROW(unknown.prepare(classifier({"loan", "pin", "card"}), kScoring), DataError);
    LabelledFinetuning no_classifier =
        task({.train_file = train_file, .dev_file = table("dev.csv", {"pin"})});
    EXPECT_THROW(no_classifier.prepare({}, kScoring), UserError);
  }
}

// The rows that were held out while training are those that are scored later.
TEST_F(LabelledFinetuningTest, ThePartThatIsHeldOutIsScoredWithoutTraining) {
  const std::string file = table("t.csv", {"card", "pin"});
  LabelledFinetuning trained = task({.train_file = file});
  trained.prepare({}, kAll);
  EXPECT_TRUE(is_said("held out 2 of 20 rows to score on\n"));
  EXPECT_EQ(trained.training_data()->size(), 18);
  LabelledFinetuning scored = task({.train_file = file});
  scored.prepare(trained.head(), kScoring);
  EXPECT_EQ(scored.evaluated_on(), trained.evaluated_on());
}

TEST_F(LabelledFinetuningTest, AllRowsAreTrainedOnWhenNothingIsScored) {
  LabelledFinetuning all = task({.train_file = table("t.csv", {"card", "pin"})});
  all.prepare({}, {.training = true});
  EXPECT_EQ(all.training_data()->size(), 20);
}

TEST_F(LabelledFinetuningTest, ClassesAreWeighedByTheRowsOfTraining) {
  LabelledFinetuning weighed = task(
      {.train_file = table("t.csv", {"card", "card", "card", "pin"}), .class_weights = "balanced"});
  weighed.prepare({}, kAll);
  EXPECT_EQ(weighed.training_data()->size(), 36) << "27 of card and 9 of pin";
  EXPECT_EQ(weighed.head().class_weights, (std::vector<float>{36.0f / 54.0f, 36.0f / 18.0f}));
  EXPECT_TRUE(is_said("class weights from 0.6667 (card) to 2 (pin)\n"));
}

TEST_F(LabelledFinetuningTest, NumbersAreLearned) {
  LabelledFinetuning numbers =
      task({.problem = number_problem(), .train_file = table("t.csv", {"1.5", "-2"})});
  numbers.prepare({}, kAll);
  EXPECT_TRUE(numbers.head().is_regression());
  EXPECT_EQ(numbers.training_data()->sample(0, 0).score, 1.5f);
  LabelledFinetuning all = task(
      {.problem = number_problem(), .train_file = table("a.csv", {"1.5", "-2"}), .dev_share = 0});
  all.prepare({}, {.training = true});
  EXPECT_EQ(all.fresh_values(), (FreshValues{{"classifier.bias", {-0.25f}}}));
  LabelledFinetuning names =
      task({.problem = number_problem(), .train_file = table("n.csv", {"1.5", "nan"})});
  EXPECT_THROW(names.prepare({}, kAll), DataError);
}

TEST_F(LabelledFinetuningTest, SetsOfLabelsAreLearned) {
  const auto sets_of = [&](const std::string& file) {
    return LabelledFinetuningOptions{
        .problem = label_set_problem(), .train_file = file, .table = {.has_label_sets = true}};
  };
  const std::string file = table("sets.csv", {"pin|card", "card", ""});
  LabelledFinetuning sets = task(sets_of(file));
  sets.prepare({}, kAll);
  EXPECT_EQ(sets.head().labels, (Names{"card", "pin"}));
  EXPECT_TRUE(sets.head().is_multi_label);
  EXPECT_FALSE(sets.head().is_regression());
  EXPECT_EQ(sets.fresh_prefix(), "classifier.");
  EXPECT_TRUE(is_said("30 rows, texts in text, labels in label; 10 have no label"));
  const data::Sample sample = sets.training_data()->sample(0, 0);
  EXPECT_EQ(sample.masked_labels, (std::vector<int32_t>{1, 1}));
  EXPECT_EQ(sets.training_data()->sample(1, 0).masked_labels, (std::vector<int32_t>{1, 0}));
  EXPECT_EQ(sets.training_data()->sample(2, 0).masked_labels, (std::vector<int32_t>{0, 0}));
  EXPECT_EQ(sample.masked_positions, (std::vector<int32_t>{0, 0}));

  LabelledFinetuning same = task(sets_of(file));
  models::BertHead start = classifier({"pin", "card"});
  same.prepare(start, kAll);  // a classifier of one label
  EXPECT_EQ(same.fresh_prefix(), "classifier.");
  LabelledFinetuning again = task(sets_of(file));
  start.is_multi_label = true;
  again.prepare(start, kAll);
  EXPECT_EQ(again.fresh_prefix(), "");
  EXPECT_EQ(again.fresh_values(), FreshValues());
  EXPECT_EQ(again.head().labels, start.labels);

  LabelledFinetuning nothing = task(sets_of(table("none.csv", {""})));
  EXPECT_THROW(nothing.prepare({}, kAll), UserError);
  LabelledFinetuningOptions unseparated = sets_of(file);
  unseparated.table.label_separator = "";
  EXPECT_THROW(task(unseparated), UserError);
}

// It starts with what it can say of a label without a text.
TEST_F(LabelledFinetuningTest, ANewClassifierKnowsHowOftenLabelsHold) {
  LabelledFinetuning sets = task({.problem = label_set_problem(),
                                  .train_file = table("s.csv", {"pin|card", "card", "card"}),
                                  .dev_share = 0,
                                  .table = {.has_label_sets = true}});
  sets.prepare({}, {.training = true});
  const float card = std::log(30.5f / 0.5f), pin = std::log(10.5f / 20.5f);  // of 30 rows
  const FreshValues values = sets.fresh_values();
  ASSERT_EQ(values.size(), 1u);
  ASSERT_EQ(values.at("classifier.bias").size(), 2u);
  EXPECT_FLOAT_EQ(values.at("classifier.bias")[0], card);
  EXPECT_FLOAT_EQ(values.at("classifier.bias")[1], pin);
  LabelledFinetuning names =
      task({.problem = one_label_problem(), .train_file = table("n.csv", {"a", "b"})});
  names.prepare({}, kAll);
  EXPECT_EQ(names.fresh_values(), FreshValues());
}

TEST_F(LabelledFinetuningTest, ChoicesAreLearnedTogether) {
  const std::string path = (folder_ / "quiz.jsonl").string();
  std::string text;
  for (int i = 0; i < 10; ++i) {
    text += R"({"text": "a b", "choices": ["a", "b a b"], "label": "B"})"
            "\n"
            R"({"text": "b", "choices": ["a", "b", "b b", "a a a"], "label": 2})"
            "\n";
  }
  platform::write_file_atomically(path, text);
  LabelledFinetuning quiz = task({.problem = choice_problem(),
                                  .train_file = path,
                                  .dev_share = 0,
                                  .table = {.has_choices = true}});
  quiz.prepare({}, {.training = true});
  EXPECT_EQ(quiz.head().kind, models::HeadKind::kMultipleChoice);
  EXPECT_EQ(quiz.sequences_per_sample(), 4);
  const data::Sample sample = quiz.training_data()->sample(0, 0);
  EXPECT_EQ(sample.choice_lengths, (std::vector<int32_t>{6, 8}));
  EXPECT_EQ(sample.input_ids, (std::vector<int32_t>{2, 5, 6, 3, 5, 3, 2, 5, 6, 3, 6, 5, 6, 3}));
  EXPECT_EQ(sample.masked_labels, std::vector<int32_t>{1});
  EXPECT_EQ(quiz.training_data()->sample(1, 0).masked_labels, std::vector<int32_t>{2});
  LabelledFinetuning again =
      task({.problem = choice_problem(), .train_file = path, .table = {.has_choices = true}});
  again.prepare({.kind = models::HeadKind::kMultipleChoice}, kAll);
  EXPECT_EQ(again.fresh_prefix(), "");
}

TEST(LabelProblem, AChoiceHasANumberALetterOrItsText) {
  const LabelledTable table{.file = "t.csv", .columns = {.label_column = "label"}};
  const auto target = [&](const std::string& label, std::vector<std::string> choices) {
    const LabelledText row{.choices = std::move(choices), .labels = {label}, .line = 7};
    try {
      return fmt::format("{}", choice_problem()->target_of(table, row, {}).front());
    } catch (const DataError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(target("1", {"x", "y"}), "1");
  EXPECT_EQ(target("b", {"x", "y"}), "1");
  EXPECT_EQ(target("y", {"x", "y"}), "1");
  EXPECT_EQ(target("3", {"2", "3", "4"}), "1");  // no choice has this number
  EXPECT_EQ(target("1", {"0", "1"}), "1");
  EXPECT_EQ(target("2", {"2", "3", "4"}),
            "t.csv:7: label '2' in label; it must be the number of one choice and the text of no "
            "other; here it is the text of choice 0, too");
  EXPECT_EQ(
      target("2", {"x", "y"}),
      "t.csv:7: label '2' in label; it must be one of the choices, or its number from 0 to 1, "
      "or its letter from A to B");
}

// A label that few rows have stays in the part that is trained on.
TEST(LabelProblem, SetsAreStratifiedByTheirRarestLabel) {
  const std::vector<LabelTarget> targets{{0, 1}, {0}, {0, 2}, {}, {1}, {1}};
  EXPECT_EQ(label_set_problem()->strata_of(targets), (std::vector<int64_t>{0, 0, 2, 3, 1, 1}));
}

TEST(LabelProblem, PredictsWhatTheLogitsSay) {
  const std::vector<float> logits{-1.0f, 0.0f, 2.0f};
  EXPECT_EQ(one_label_problem()->predict(logits).target, LabelTarget{2});
  const LabelPrediction set = label_set_problem()->predict(logits);
  EXPECT_EQ(set.target, LabelTarget{2});  // 0 is one half, not above it
  EXPECT_NEAR(set.probabilities[0], 1.0 / (1.0 + std::exp(1.0)), 1e-12);
  EXPECT_EQ(number_problem()->predict(std::span(logits).last(1)).target, LabelTarget{2});
}

}  // namespace
}  // namespace cloze::tasks

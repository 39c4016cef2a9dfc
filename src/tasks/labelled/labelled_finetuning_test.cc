#include "tasks/labelled/labelled_finetuning.h"

#include <gtest/gtest.h>

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

TEST_F(LabelledFinetuningTest, NumbersAreLearned) {
  LabelledFinetuning numbers =
      task({.is_regression = true, .train_file = table("t.csv", {"1.5", "-2"})});
  numbers.prepare({}, kAll);
  EXPECT_TRUE(numbers.head().is_regression());
  EXPECT_EQ(numbers.training_data()->sample(0, 0).score, 1.5f);
  LabelledFinetuning names =
      task({.is_regression = true, .train_file = table("n.csv", {"1.5", "nan"})});
  EXPECT_THROW(names.prepare({}, kAll), DataError);
}

}  // namespace
}  // namespace cloze::tasks

#include "tasks/glue/glue_finetuning.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "platform/files/atomic_file.h"

namespace cloze::tasks {
namespace {

namespace fs = std::filesystem;

class GlueFinetuningTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "RTE");
    platform::write_file_atomically(folder_ / "RTE/train.tsv",
                                    "index\tsentence1\tsentence2\tlabel\n0\ta b\tb\tentailment\n");
  }
  void TearDown() override { fs::remove_all(folder_); }

  GlueFinetuning task(const char* name = "RTE") {
    return {{.task_name = name, .data_dir = folder_.string(), .features = {}},
            tokenizer_,
            {.examine =
                 [this](const std::string& file, const std::vector<std::string_view>& texts) {
                   EXPECT_EQ(file, folder_ / "RTE/train.tsv");
                   examined_.assign(texts.begin(), texts.end());
                 },
             .notice = [this](const std::string& line) { notices_.push_back(line); },
             .result = {},
             .watch = {}}};
  }
  static models::BertHead classifier(std::vector<std::string> labels, std::string task = "") {
    return {.kind = models::HeadKind::kSequenceClassification,
            .labels = std::move(labels),
            .task = std::move(task)};
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / "glue_finetuning_test";
  const text::Tokenizer tokenizer_{
      text::Vocabulary::from_tokens({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b"}), {}};
  std::vector<std::string> notices_;
  std::vector<std::string> examined_;  // the latest texts
};

TEST_F(GlueFinetuningTest, DoesWhatThereAreFilesFor) {
  const FinetuningPhases phases = task().possible_phases();
  EXPECT_TRUE(phases.training);
  EXPECT_FALSE(phases.evaluation);
  EXPECT_FALSE(phases.prediction);
  EXPECT_THROW(task("CoLA").possible_phases(), UserError);
}

TEST_F(GlueFinetuningTest, ItsClassesHaveTheWeightsThatAreAskedFor) {
  GlueFinetuning weighed(
      {.task_name = "RTE", .data_dir = folder_.string(), .features = {}, .class_weights = "2,0.5"},
      tokenizer_,
      {.examine = [](const auto&, const auto&) {},
       .notice = [this](const std::string& line) { notices_.push_back(line); },
       .result = {},
       .watch = {}});
  weighed.training_data();
  EXPECT_EQ(weighed.head().class_weights, (std::vector<float>{2.0f, 0.5f}));
  EXPECT_EQ(notices_.back(), "class weights from 0.5 (not_entailment) to 2 (entailment)");
}

TEST_F(GlueFinetuningTest, ItsHeadHasTheClassesOfTheTask) {
  const models::BertHead head = task().head();
  EXPECT_EQ(head.labels, (std::vector<std::string>{"entailment", "not_entailment"}));
  EXPECT_EQ(head.task, "RTE");
  EXPECT_TRUE(task("STS-B").head().is_regression());
}

TEST_F(GlueFinetuningTest, ReadsItsTrainingData) {
  const auto data = task().training_data();
  ASSERT_EQ(data->size(), 1);
  EXPECT_EQ(examined_, (std::vector<std::string>{"a b", "b"}));
  EXPECT_EQ(data->sample(0, 0).input_ids, (std::vector<int32_t>{2, 5, 6, 3, 6, 3}));
  ASSERT_EQ(notices_.size(), 1u);
  EXPECT_NE(notices_[0].find("train.tsv: 1 examples, 0 cut to seq_length 128"), std::string::npos);
}

TEST_F(GlueFinetuningTest, AClassifierOfOtherClassesStartsAfreshOrIsRefused) {
  const std::vector<std::pair<models::BertHead, bool>> starts = {
      {classifier({"0", "1"}), true},
      {classifier({"a", "b", "c"}), false},
      {classifier({"not_entailment", "entailment"}), false},
      {classifier({"Not-Entailment", "ENTAILMENT"}), false},
      {classifier({"ENTAILMENT", "NOT_ENTAILMENT"}), true},
      {classifier({"no", "yes"}, "text-classification"), true},  // as transformers 5 writes it
      {classifier({"entailment", "not_entailment"}, "QNLI"), false}};
  for (const auto& [start, is_of_use] : starts) {
    GlueFinetuning trained = task();
    trained.prepare(start, {.training = true});
    EXPECT_EQ(trained.fresh_prefix(), is_of_use ? "" : "classifier.");
    GlueFinetuning only_scored = task();
    if (is_of_use) {
      EXPECT_NO_THROW(only_scored.prepare(start, {}));
    } else {
      EXPECT_THROW(only_scored.prepare(start, {}), UserError);
    }
  }
}

TEST_F(GlueFinetuningTest, ClassesOfOtherNamesAreNamed) {
  task().prepare(classifier({"Entailment", "not-entailment"}), {});
  EXPECT_TRUE(notices_.empty());
  task().prepare(classifier({"LABEL_0", "LABEL_1"}), {});
  ASSERT_EQ(notices_.size(), 1u);
  EXPECT_EQ(notices_[0],
            "note: the start model's classes are [LABEL_0, LABEL_1], those of RTE are [entailment, "
            "not_entailment]; they are taken in this order");
}

// What another head calls a classifier belongs to another task.
TEST_F(GlueFinetuningTest, OtherHeadsHaveNoClassifier) {
  for (const auto kind : {models::HeadKind::kPretraining, models::HeadKind::kQuestionAnswering}) {
    GlueFinetuning trained = task();
    trained.prepare({.kind = kind}, {.training = true});
    EXPECT_EQ(trained.fresh_prefix(), "classifier.");
    EXPECT_NO_THROW(task().prepare({.kind = kind}, {}));
    EXPECT_TRUE(notices_.empty());
  }
}

}  // namespace
}  // namespace cloze::tasks

#include "data/sample_squad.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "base/error.h"
#include "formats/json.h"
#include "platform/files/file.h"

namespace cloze::data {
namespace {

class SampleSquad : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    directory_ = std::filesystem::path(testing::TempDir()) / "cloze_sample_squad" / test->name();
    std::filesystem::remove_all(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string text(const std::string& split) const {
    return platform::read_file(directory_ / ("squad-" + split + ".json"));
  }

  // Calls check(paragraph) for every paragraph of a file.
  template <typename Check>
  void for_each_paragraph(const std::string& split, Check check) const {
    const auto file = formats::Json::parse(text(split));
    EXPECT_EQ(file.at("version"), "1.1");
    for (const auto& article : file.at("data")) {
      EXPECT_FALSE(article.at("title").get<std::string>().empty());
      for (const auto& paragraph : article.at("paragraphs")) check(paragraph);
    }
  }

  std::filesystem::path directory_;
};

TEST_F(SampleSquad, HoldsAsManyQuestionsAsAskedFor) {
  write_sample_squad({.directory = directory_, .num_train_questions = 100, .num_dev_questions = 7});
  for (const auto& [split, count] : {std::pair("train", 100u), std::pair("dev", 7u)}) {
    std::set<std::string> ids;
    for_each_paragraph(split, [&](const formats::Json& paragraph) {
      EXPECT_FALSE(paragraph.at("qas").empty());
      for (const auto& item : paragraph.at("qas")) {
        ids.insert(item.at("id").get<std::string>());
        EXPECT_TRUE(item.at("question").get<std::string>().ends_with('?'));
      }
    });
    EXPECT_EQ(ids.size(), count) << split;
  }
}

TEST_F(SampleSquad, AnswersStandAtTheirPlace) {
  write_sample_squad({.directory = directory_});
  for (const char* split : {"train", "dev"}) {
    for_each_paragraph(split, [](const formats::Json& paragraph) {
      const auto context = paragraph.at("context").get<std::string>();
      for (const auto& item : paragraph.at("qas")) {
        ASSERT_EQ(item.at("answers").size(), 1u);
        const auto& answer = item.at("answers")[0];
        const auto words = answer.at("text").get<std::string>();
        EXPECT_EQ(context.substr(answer.at("answer_start").get<size_t>(), words.size()), words);
      }
    });
  }
}

TEST_F(SampleSquad, TrainAndDevShareNeitherParagraphNorQuestion) {
  write_sample_squad({.directory = directory_});
  std::set<std::string> contexts, questions;
  for_each_paragraph("train", [&](const formats::Json& paragraph) {
    contexts.insert(paragraph.at("context").get<std::string>());
    for (const auto& item : paragraph.at("qas")) {
      questions.insert(item.at("question").get<std::string>());
    }
  });
  for_each_paragraph("dev", [&](const formats::Json& paragraph) {
    EXPECT_FALSE(contexts.contains(paragraph.at("context").get<std::string>()));
    for (const auto& item : paragraph.at("qas")) {
      EXPECT_FALSE(questions.contains(item.at("question").get<std::string>())) << item.dump();
    }
  });
}

TEST_F(SampleSquad, SameSeedSameBytes) {
  const SampleSquadOptions options{
      .directory = directory_, .seed = 3, .num_train_questions = 60, .num_dev_questions = 30};
  write_sample_squad(options);
  const std::string train = text("train"), dev = text("dev");
  write_sample_squad(options);
  EXPECT_EQ(text("train"), train);
  EXPECT_EQ(text("dev"), dev);
  SampleSquadOptions other = options;
  other.seed = 4;
  write_sample_squad(other);
  EXPECT_NE(text("train"), train);
  EXPECT_NE(text("dev"), dev);
}

TEST_F(SampleSquad, RefusesMoreThanThereIs) {
  const auto refusal = [&](int64_t train, int64_t dev, int64_t subjects = 1) -> std::string {
    try {
      write_sample_squad({.directory = directory_,
                          .num_train_questions = train,
                          .num_dev_questions = dev,
                          .num_subjects = subjects});
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(-1, 0).find("--train-questions is -1; give 0 to "), 0u);
  EXPECT_EQ(refusal(0, 1'000'000).find("--dev-questions is 1000000; give 0 to "), 0u);
  EXPECT_EQ(refusal(20'000, 10'000).find("--train-questions 20000 and --dev-questions 10000 need "),
            0u);
  EXPECT_EQ(refusal(10, 10, 4), "--subjects is 4; give 1 to 3");
  EXPECT_FALSE(std::filesystem::exists(directory_));
}

}  // namespace
}  // namespace cloze::data

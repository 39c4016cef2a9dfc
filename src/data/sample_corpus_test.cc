#include "data/sample_corpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "base/error.h"
#include "data/sample_world.h"
#include "formats/json.h"
#include "platform/files/file.h"

namespace cloze::data {
namespace {

class SampleCorpus : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    directory_ = std::filesystem::path(testing::TempDir()) / "cloze_sample_corpus" / test->name();
    std::filesystem::remove_all(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string corpus() const { return platform::read_file(directory_ / "corpus.txt"); }

  std::filesystem::path directory_;
};

TEST_F(SampleCorpus, HoldsTheDocumentsInOrder) {
  const auto size = write_sample_corpus(
      {.directory = directory_, .seed = 9, .num_documents = 5, .num_cloze_items = 0});
  std::string expected;
  int64_t num_sentences = 0;
  const SampleWorld world(9);
  for (int64_t i = 0; i < 5; ++i) {
    for (const std::string& sentence : world.document(i)) {
      expected += sentence + "\n";
      ++num_sentences;
    }
    expected += "\n";
  }
  EXPECT_EQ(corpus(), expected);
  EXPECT_EQ(size.num_documents, 5);
  EXPECT_EQ(size.num_sentences, num_sentences);
  EXPECT_EQ(size.num_bytes, std::ssize(expected));
}

TEST_F(SampleCorpus, ReachesTheSizeAndBeginsAlike) {
  write_sample_corpus({.directory = directory_, .megabytes = 0.05, .num_cloze_items = 0});
  const std::string small = corpus();
  EXPECT_GE(small.size(), 50'000u);
  EXPECT_LT(small.size(), 55'000u);
  write_sample_corpus({.directory = directory_, .megabytes = 0.1, .num_cloze_items = 20});
  EXPECT_TRUE(corpus().starts_with(small));
}

TEST_F(SampleCorpus, WritesItemsAsJsonLines) {
  write_sample_corpus({.directory = directory_, .num_documents = 1, .num_cloze_items = 20});
  std::istringstream lines(platform::read_file(directory_ / "cloze.jsonl"));
  int num_items = 0;
  for (std::string line; std::getline(lines, line); ++num_items) {
    const auto item = formats::Json::parse(line);
    EXPECT_EQ(item.size(), 4u);
    EXPECT_NE(item.at("text").get<std::string>().find("[MASK]"), std::string::npos);
    EXPECT_FALSE(item.at("answer").get<std::string>().empty());
  }
  EXPECT_EQ(num_items, 20);
}

TEST_F(SampleCorpus, RefusesNonsense) {
  EXPECT_THROW(write_sample_corpus({.directory = directory_}), UserError);
  EXPECT_THROW(write_sample_corpus({.directory = directory_, .num_documents = 0}), UserError);
  EXPECT_THROW(write_sample_corpus({.directory = directory_, .megabytes = -1}), UserError);
  EXPECT_THROW(
      write_sample_corpus({.directory = directory_, .num_documents = 1, .num_cloze_items = -1}),
      UserError);
  EXPECT_FALSE(std::filesystem::exists(directory_ / "corpus.txt"));
}

}  // namespace
}  // namespace cloze::data

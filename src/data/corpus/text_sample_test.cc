#include "data/corpus/text_sample.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "platform/files/atomic_file.h"

namespace cloze::data {
namespace {

namespace fs = std::filesystem;

class TextSampleTest : public testing::Test {
 protected:
  void TearDown() override { fs::remove_all(folder_); }

  std::vector<TextSource> sources(const std::vector<std::string>& texts,
                                  TextFormat format = TextFormat::kSentences) const {
    fs::create_directories(folder_);
    std::vector<fs::path> files;
    for (const std::string& text : texts) {
      files.push_back(folder_ / std::to_string(files.size()));
      platform::write_file_atomically(files.back(), text);
    }
    CreationProgress progress;
    return open_text_sources(files, {.form = {.format = format}}, progress);
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / "cloze_text_sample_test";
};

TEST_F(TextSampleTest, AShortTextIsTakenWhole) {
  const TextSample sample = sample_of(sources({"a b\nc\n\nd", "", "e\n"}));
  EXPECT_TRUE(sample.is_whole);
  EXPECT_EQ(sample.paragraphs, (std::vector<std::string>{"a b", "c", "d", "e"}));
}

// Whole lines, from the beginning, the middle and the end of every file.
TEST_F(TextSampleTest, ALongTextIsTakenFromAllOver) {
  std::vector<std::string> texts(3);
  for (int line = 0; line < 900'000; ++line) {
    texts[line / 300'000] += fmt::format("line {:06}\n", line);
  }
  const TextSample sample = sample_of(sources(texts));
  EXPECT_FALSE(sample.is_whole);
  EXPECT_GT(sample.paragraphs.size(), 300'000u) << "4 MiB of lines of 12 bytes";
  EXPECT_LT(sample.paragraphs.size(), 400'000u);
  EXPECT_EQ(sample.paragraphs.front(), "line 000000");
  int64_t before = -1;
  for (const std::string& paragraph : sample.paragraphs) {
    ASSERT_EQ(paragraph.size(), 11u) << paragraph;
    const int64_t line = std::stoll(paragraph.substr(5));
    ASSERT_GT(line, before);
    ASSERT_LT(line - before, 10'000) << "a hole after " << before;
    before = line;
  }
  EXPECT_GT(before, 890'000);
}

TEST_F(TextSampleTest, BadTextIsPassedOver) {
  const auto text = sources({"{\"text\": \"a b.\"}\n"}, TextFormat::kJsonLines);
  EXPECT_EQ(sample_of(text).paragraphs, (std::vector<std::string>{"a b."}));
  EXPECT_TRUE(sample_of(sources({"no JSON\n"}, TextFormat::kJsonLines)).paragraphs.empty());
}

}  // namespace
}  // namespace cloze::data

// Records whose creation was interrupted equal those of an uninterrupted creation.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "data/creation/create_records.h"
#include "platform/child.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"
#include "platform/interrupted_test.h"
#include "platform/limited_memory_test.h"

namespace cloze::data {
namespace {

namespace fs = std::filesystem;

class InterruptedCreationTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              (std::string("cloze_interrupted_creation_") +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    platform::write_file_atomically(folder_ / "text", text(1));
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Some 1.5 MB of sentences, some of them longer than a sequence.
  static std::string text(int seed) {
    std::string text;
    for (int line = 0; line < 20'000; ++line) {
      const int words = line % 100 == 7 ? 300 : 3 + line % 12;
      for (int word = 0; word < words; ++word) {
        text += kWords[static_cast<size_t>(line * 7 + word * word + seed) % kWords.size()] + " ";
      }
      text += line % 40 == 39 ? "\n\n" : "\n";
    }
    return text;
  }

  RecordOptions options(const std::string& first, const std::string& second) const {
    RecordOptions options;
    options.input = {.files = {folder_ / "text"}, .threads = 2, .round_blocks = 1};
    options.output_files = {folder_ / first, folder_ / second};
    options.layout = {.sequence_length = 32, .max_predictions = 6};
    options.duplication_factor = 2;
    options.window_tokens = 50'000;
    return options;
  }
  RecordCounts create(const RecordOptions& options) {
    CreationProgress progress;
    return create_records(options, tokenizer_, progress,
                          [&](const std::string& notice) { notices_.push_back(notice); });
  }
  std::string refusal(const RecordOptions& options) {
    try {
      create(options);
    } catch (const UserError& error) {
      return error.what();
    }
    return "accepted";
  }
  int interrupt(const RecordOptions& options, int signal, int saves) {
    return platform::status_of_interrupted_before(
        options.output_files.front(), {.journal = journal(), .signal = signal, .saves = saves},
        [&] { create(options); });
  }
  fs::path journal() const { return folder_ / "a.journal.partial"; }

  // A file has its name only once it is whole.
  void expect_same_or_absent(const std::string& file, const std::string& expected) const {
    EXPECT_TRUE(!fs::exists(folder_ / file) ||
                platform::read_file(folder_ / file) == platform::read_file(folder_ / expected))
        << file;
  }
  void expect_same_records(const std::function<void(RecordOptions&)>& set) {
    RecordOptions whole = options("whole", "other"), cut = options("a", "b");
    set(whole);
    set(cut);
    const RecordCounts counts = create(whole);
    const int interruptions = platform::interruptions_until_done(
        {.journal = journal()}, 4, [&] { create(cut); },
        [&] {
          expect_same_or_absent("a", "whole");
          expect_same_or_absent("b", "other");
        });
    ASSERT_GE(interruptions, 4);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 5) << "all else is gone";

    // The counts are those of all, not of the last life.
    ASSERT_EQ(interrupt(cut, SIGKILL, 5), -SIGKILL);
    ASSERT_FALSE(fs::exists(folder_ / "a"));
    const RecordCounts resumed = create(cut);
    EXPECT_EQ(resumed.instances, counts.instances);
    EXPECT_EQ(resumed.tokens, counts.tokens);
    EXPECT_EQ(resumed.predictions, counts.predictions);
    EXPECT_EQ(resumed.documents, counts.documents);
    EXPECT_EQ(resumed.sentences, counts.sentences);
    EXPECT_EQ(resumed.text_tokens, counts.text_tokens);
    EXPECT_EQ(resumed.documents_of_one_sentence, counts.documents_of_one_sentence);
    ASSERT_EQ(notices_.size(), 1u);
    EXPECT_TRUE(notices_[0].starts_with("continuing ")) << notices_[0];
  }

  static inline const std::vector<std::string> kWords{"rain", "sun", "wind", "snow", "a", "the"};
  fs::path folder_;
  std::vector<std::string> notices_;
  const text::Tokenizer tokenizer_{
      text::Vocabulary::from_tokens({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "rain", "sun",
                                     "wind", "snow", "a", "the"}),
      {}};
};

TEST_F(InterruptedCreationTest, TheRecordsAreTheSame) {
  expect_same_records([](RecordOptions&) {});
}

TEST_F(InterruptedCreationTest, RemaskedAndLimitedTheRecordsAreTheSame) {
  expect_same_records([](RecordOptions& asked) {
    asked.layout.remask = true;
    asked.max_samples = 12'345;
  });
}

TEST_F(InterruptedCreationTest, GooglesRecordsAreTheSame) {
  expect_same_records([](RecordOptions& asked) {
    asked.google_compatible = asked.input.documents_cross_files = true;
  });
}

TEST_F(InterruptedCreationTest, OtherOptionsAndOtherTextAreRefused) {
  const RecordOptions asked = options("a", "b");
  ASSERT_EQ(interrupt(asked, SIGKILL, 8), -SIGKILL);
  RecordOptions other = asked;
  other.seed = 5;
  other.masking_probability = 0.2;
  EXPECT_EQ(refusal(other),
            journal().string() +
                " belongs to interrupted work with --mlm-prob 0.15, this command has 0.2; "
                "--seed 1984, this command has 5; give the same command to continue, or "
                "delete that file to start over");
  platform::write_file_atomically(folder_ / "text", text(2));
  EXPECT_EQ(refusal(asked),
            journal().string() +
                " belongs to interrupted work on other content of --input-file; give the same "
                "files to continue, or delete that file to start over");
  EXPECT_TRUE(fs::exists(journal())) << "a refusal destroys nothing";
  platform::write_file_atomically(folder_ / "text", text(1));
  RecordOptions threads = asked;
  threads.input.threads = 1;
  EXPECT_EQ(refusal(threads), "accepted") << "threads may change";
}

// 59 MB of records are made in 24 MB.
TEST_F(InterruptedCreationTest, AllRecordsTogetherNeedNotFitInMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer takes memory of its own";
#endif
  RecordOptions asked = options("a", "b");
  asked.input.threads = 1;
  asked.google_compatible = true;
  asked.duplication_factor = 25;
  const auto made = platform::bytes_from_child(
      [&] {
        platform::limit_further_memory(24 << 20);
        create(asked);
        return std::string("made");
      },
      300);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_GT(fs::file_size(folder_ / "a") + fs::file_size(folder_ / "b"), 55u << 20);
}

// Bad text stays bad: what was done before it is of no use.
TEST_F(InterruptedCreationTest, BadTextLeavesNothing) {
  std::string lines;
  for (int i = 0; i < 30'000; ++i) lines += "{\"text\": \"rain and snow\"}\n";
  platform::write_file_atomically(folder_ / "text", lines + "{\"text\": 5}\n");
  RecordOptions asked = options("a", "b");
  asked.input.form.format = TextFormat::kJsonLines;
  EXPECT_NE(refusal(asked).find(":30001:1: "), std::string::npos) << refusal(asked);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

}  // namespace
}  // namespace cloze::data

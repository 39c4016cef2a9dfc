// What `cloze pretrain` says of [UNK] in data whose text was cut before.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/run_command_test.h"
#include "cli/training/small_run_test.h"
#include "platform/files/atomic_file.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class UnknownShare : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\ncat\nsat\n";
    platform::write_file_atomically(path("vocab.txt"), vocabulary);
    std::string known, unknown;
    for (int i = 0; i < 40; ++i) {
      known += "a cat sat\nsat a cat\n\n";
      unknown += "a dog sat\nsat a cat\n\n";  // a sixth of the words
    }
    platform::write_file_atomically(path("known.txt"), known);
    platform::write_file_atomically(path("unknown.txt"), unknown);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string made(const std::string& command, const std::string& text, const std::string& output,
                   const Words& more = {}) const {
    Words words = {"data",         command,          "--input-file",
                   path(text),     output,           path(text + command),
                   "--vocab-file", path("vocab.txt")};
    words.insert(words.end(), more.begin(), more.end());
    const CommandResult result = run_command(words);
    EXPECT_EQ(result.status, ExitCode::kSuccess) << result.error;
    return path(text + command);
  }
  std::string store_of(const std::string& text) const {
    return made("tokens", text, "--output-dir");
  }
  std::string records_of(const std::string& text) const {
    return made("records", text, "--output-file", {"--sequence-length=16", "--mask-tokens=3"});
  }
  CommandResult pretrain(const std::string& data, const Words& more = {}) const {
    fs::remove_all(path("run"));
    Words words = small_pretraining_words(path("run"));
    words.insert(words.begin(), "pretrain");
    words.push_back("--train-file=" + data);
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words);
  }
  void expect_refused(const std::string& data, const std::string& share, const std::string& cure,
                      const Words& more = {}) const {
    Words limited = more;
    limited.push_back("--max-unknown-tokens=9");
    const CommandResult result = pretrain(data, limited);
    EXPECT_EQ(result.status, ExitCode::kUsage) << result.error;
    EXPECT_NE(result.error.find(data + ": " + share), std::string::npos) << result.error;
    EXPECT_NE(result.error.find("; make them again with the vocabulary that was made for their "
                                "text: " +
                                cure + ", or allow it with --max-unknown-tokens "),
              std::string::npos)
        << result.error;
    EXPECT_FALSE(fs::exists(path("run"))) << "nothing is spent";
    const CommandResult allowed = pretrain(data, more);
    EXPECT_EQ(allowed.status, ExitCode::kSuccess) << allowed.error;
    EXPECT_NE(allowed.error.find("note: " + data + ": " + share), std::string::npos)
        << allowed.error;
  }
  void expect_said(const std::string& data, const std::string& text) const {
    const CommandResult result = pretrain(data);
    EXPECT_EQ(result.status, ExitCode::kSuccess) << result.error;
    EXPECT_NE(result.error.find("\n" + data + ": " + text + "\n"), std::string::npos)
        << result.error;
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / "unknown_share_test";
};

// Of a document's 9 tokens, [CLS] and two [SEP] included, one is unknown; short sequences are parts
// of documents.
TEST_F(UnknownShare, OfATokenStore) {
  expect_refused(store_of("unknown.txt"),
                 "10.12 % of the tokens in 40 of 40 samples are [UNK] (id 1)", "cloze data tokens");
  expect_said(store_of("known.txt"), "0.00 % of the tokens in 40 of 40 samples are [UNK] (id 1)");
}

TEST_F(UnknownShare, OfRecords) {
  const std::string records = records_of("unknown.txt");
  expect_refused(records, "10.01 % of the tokens in 366 of 366 samples are [UNK] (id 1)",
                 "cloze data records");
  expect_refused(records, "10.01 % of the tokens in 366 of 366 samples are [UNK] (id 1)",
                 "cloze data records", {"--vocab-file=" + path("vocab.txt")});
  const CommandResult known = pretrain(records_of("known.txt"));
  EXPECT_NE(known.error.find(": 0.00 % of the tokens in "), std::string::npos) << known.error;
  EXPECT_NE(known.error.find(" samples are [UNK] (id 1)\n"), std::string::npos) << known.error;
}

TEST_F(UnknownShare, OfTextIsSaidOnce) {
  Words words = small_pretraining_words(path("run"));
  words.insert(words.begin(), "pretrain");
  words.insert(words.end(),
               {"--input-file=" + path("unknown.txt"), "--vocab-file=" + path("vocab.txt")});
  const CommandResult result = run_command(words);
  EXPECT_EQ(result.status, ExitCode::kSuccess) << result.error;
  const size_t first = result.error.find("are [UNK]");
  ASSERT_NE(first, std::string::npos) << result.error;
  EXPECT_EQ(result.error.find("are [UNK]", first + 1), std::string::npos) << result.error;
}

TEST_F(UnknownShare, GeneratedDataHasNone) {
  Words words = small_pretraining_words(path("run"));
  words.insert(words.begin(), "pretrain");
  words.insert(words.end(), {"--generated-data=true", "--max-unknown-tokens=9"});
  const CommandResult result = run_command(words);
  EXPECT_EQ(result.status, ExitCode::kUsage);
  EXPECT_NE(
      result.error.find("--max-unknown-tokens needs text, or data made of text; --generated-data "
                        "has none"),
      std::string::npos)
      << result.error;
}

}  // namespace
}  // namespace cloze::cli

// The forms of text as users meet them: recognised by each command that reads text, or given.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/run_command_test.h"
#include "cli/training/small_run_test.h"
#include "data/token_store/token_store.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class TextForms : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n.\n";
    for (const char* word : {"the", "miller", "sold", "his", "flour", "and", "went", "home"}) {
      vocabulary += word + std::string("\n");
    }
    write("vocab.txt", vocabulary);
    const std::string sentence = "The miller sold his flour and the miller went home.";
    std::string paragraph = sentence;
    for (int i = 0; i < 4; ++i) paragraph += " " + sentence;
    std::string wrapped = paragraph;
    for (size_t at = 40; at < wrapped.size(); at += 40) wrapped[wrapped.rfind(' ', at)] = '\n';
    for (int i = 0; i < 12; ++i) {
      append("sentences.txt", sentence + "\n" + sentence + "\n\n");
      append("paragraphs.txt", paragraph + "\n");
      append("apart.txt", paragraph + "\n\n");
      append("wrapped.txt", wrapped + "\n\n");
      append("lines.jsonl", R"({"id": 1, "content": ")" + paragraph + "\"}\n");
    }
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    platform::write_file_atomically(folder_ / name, text);
  }
  void append(const std::string& name, const std::string& text) const {
    write(name, fs::exists(path(name)) ? platform::read_file(path(name)) + text : text);
  }

  CommandResult tokens(const std::string& file, const Words& more = {}) const {
    return run({"data", "tokens", "--output-dir", path("store"), "--vocab-file", path("vocab.txt")},
               file, more);
  }
  CommandResult run(Words words, const std::string& file, const Words& more) const {
    words.insert(words.end(), {"--input-file", path(file)});
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words);
  }
  std::string line_of(const std::string& file, const std::string& as) const {
    return "note: read " + path(file) + " as " + as + "; set --input-format to read it otherwise\n";
  }
  int64_t sentences_in_store() const {
    return data::read_token_store_manifest(path("store")).sentences;
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / "cloze_text_forms_test";
};

constexpr const char* kWrapped =
    "wrapped (of any number of lines, with blank lines between paragraphs)";

TEST_F(TextForms, EachIsRecognisedAndGivesTheSameSentences) {
  for (const auto& [file, as, sentences] :
       {std::tuple("sentences.txt", "sentences (one a line)", 24),
        std::tuple("paragraphs.txt", "paragraphs (one a line)", 60),
        std::tuple("apart.txt", kWrapped, 60), std::tuple("wrapped.txt", kWrapped, 60)}) {
    const CommandResult built = tokens(file);
    ASSERT_EQ(built.status, ExitCode::kSuccess) << built.error;
    EXPECT_TRUE(built.error.starts_with(line_of(file, as))) << built.error;
    EXPECT_EQ(sentences_in_store(), sentences) << file;
  }
}

TEST_F(TextForms, EveryCommandThatReadsTextRecognisesThem) {
  const std::string line = line_of("wrapped.txt", kWrapped);
  const CommandResult vocabulary = run(
      {"data", "vocabulary", "--output-file", path("made.txt"), "--size", "60"}, "wrapped.txt", {});
  EXPECT_EQ(vocabulary.status, ExitCode::kSuccess) << vocabulary.error;
  EXPECT_TRUE(vocabulary.error.starts_with(line)) << vocabulary.error;
  const CommandResult made =
      run({"data", "records", "--output-file", path("records"), "--vocab-file", path("vocab.txt")},
          "wrapped.txt", {});
  EXPECT_EQ(made.status, ExitCode::kSuccess) << made.error;
  EXPECT_TRUE(made.error.starts_with(line)) << made.error;
  EXPECT_NE(made.out.find("sentences 60\n"), std::string::npos) << made.out;
  Words words = small_pretraining_words(path("run"));
  words.insert(words.begin(), "pretrain");
  words.insert(words.end(), {"--vocab-file", path("vocab.txt")});
  const CommandResult trained = run(words, "wrapped.txt", {});
  EXPECT_EQ(trained.status, ExitCode::kSuccess) << trained.error;
  EXPECT_NE(trained.error.find(line), std::string::npos) << trained.error;
}

TEST_F(TextForms, AnOptionBeatsTheGuess) {
  const CommandResult built = tokens("paragraphs.txt", {"--input-format", "sentences"});
  ASSERT_EQ(built.status, ExitCode::kSuccess) << built.error;
  EXPECT_EQ(built.error.find("note: read "), std::string::npos) << built.error;
  EXPECT_EQ(sentences_in_store(), 12);
}

// Google's script takes every line for a sentence.
TEST_F(TextForms, GooglesRecordsAreOfLines) {
  const Words google = {"data",         "records",      "--output-file",
                        path("google"), "--vocab-file", path("vocab.txt"),
                        "--seed",       "12345",        "--google-compatible"};
  const CommandResult made = run(google, "paragraphs.txt", {});
  ASSERT_EQ(made.status, ExitCode::kSuccess) << made.error;
  EXPECT_EQ(made.error.find("note: read "), std::string::npos) << made.error;
  EXPECT_NE(made.out.find("sentences 12\n"), std::string::npos) << made.out;
  const CommandResult asked = run(google, "paragraphs.txt", {"--input-format", "auto"});
  EXPECT_NE(asked.out.find("sentences 60\n"), std::string::npos) << asked.out << asked.error;
}

TEST_F(TextForms, OneCorpusMayHaveSeveral) {
  const CommandResult built =
      tokens("wrapped.txt," + path("sentences.txt") + "," + path("lines.jsonl"),
             {"--json-key", "content"});
  ASSERT_EQ(built.status, ExitCode::kSuccess) << built.error;
  EXPECT_TRUE(built.error.starts_with("note: read " + path("sentences.txt") +
                                      " as sentences (one a line), " + path("wrapped.txt") +
                                      " as " + kWrapped + ", " + path("lines.jsonl") +
                                      " as jsonl (a JSON object a line); set --input-format to "
                                      "read them otherwise\n"))
      << built.error;
  EXPECT_EQ(sentences_in_store(), 60 + 24 + 60);
  const auto manifest = formats::read_json_file(folder_ / "store" / "store.json");
  EXPECT_EQ(manifest.at("text_format"), formats::Json::array({"sentences", "wrapped", "jsonl"}));
}

// Even where its text has grown, and shows another form now.
TEST_F(TextForms, ARunGoesOnWithTheFormItBeganWith) {
  write("grows.txt", "The miller went home. His flour went home.\nThe miller sold.\n");
  const auto train = [&](const std::string& name) {
    Words words = small_pretraining_words(path(name));
    words.insert(words.begin(), "pretrain");
    words.insert(words.end(), {"--vocab-file", path("vocab.txt")});
    return run(words, "grows.txt", {});
  };
  const CommandResult started = train("run");
  ASSERT_EQ(started.status, ExitCode::kSuccess) << started.error;
  EXPECT_NE(started.error.find(line_of(
                "grows.txt", "sentences (one a line, as there is too little text to tell)")),
            std::string::npos)
      << started.error;
  append("grows.txt", platform::read_file(path("paragraphs.txt")));
  const CommandResult resumed =
      run_command({"pretrain", "--restore-dir", path("run"), "--num-train-steps", "4"});
  EXPECT_EQ(resumed.error.find("note: read "), std::string::npos) << resumed.error;
  EXPECT_EQ(data::read_token_store_manifest(path("run/tokens")).rules.formats,
            std::vector{data::TextFormat::kSentences});
  EXPECT_NE(train("new").error.find(line_of("grows.txt", "paragraphs (one a line)")),
            std::string::npos);
}

TEST_F(TextForms, HtmlIsRefused) {
  const std::string message =
      " is HTML: its tags and scripts would be trained on; take the text out first (pandoc -t "
      "plain, or w3m -dump)\n";
  for (const char* html : {"\n<!DOCTYPE html>\n<p>Text.", "<HTML lang=\"de\">", "<html>",
                           "<?xml version=\"1.0\"?>\n<!-- A page. --> <html xmlns=\"x\">"}) {
    write("page.txt", html);
    for (const char* format : {"auto", "sentences", "paragraphs", "wrapped", "jsonl"}) {
      const CommandResult refused = tokens("page.txt", {"--input-format", format});
      EXPECT_EQ(refused.status, ExitCode::kUsage) << html;
      EXPECT_NE(refused.error.find(path("page.txt") + message), std::string::npos) << refused.error;
    }
  }
}

TEST_F(TextForms, AnotherMemberOfJsonLinesIsNamed) {
  const CommandResult refused = tokens("lines.jsonl");
  EXPECT_EQ(refused.status, ExitCode::kData);
  EXPECT_NE(refused.error.find(path("lines.jsonl") +
                               ":1:1: has no \"text\", but \"id\", \"content\"; name one of these "
                               "with --json-key; --skip-bad-lines leaves such lines out\n"),
            std::string::npos)
      << refused.error;
  const CommandResult built = tokens("lines.jsonl", {"--json-key", "content"});
  ASSERT_EQ(built.status, ExitCode::kSuccess) << built.error;
  EXPECT_EQ(sentences_in_store(), 60);
}

TEST_F(TextForms, BadLinesAreSkippedAndCountedOnRequest) {
  write("bad.jsonl",
        "{\"text\": \"The miller went home.\"}\nno JSON\n{\"text\": 7}\n[1]\n{}\n"
        "{\"text\": \"The miller \xFF\"}\n{\"text\": \"The miller sold flour.\"}\n");
  const CommandResult refused = tokens("bad.jsonl", {"--max-invalid-utf8", "9"});
  EXPECT_EQ(refused.status, ExitCode::kData);
  EXPECT_NE(refused.error.find(path("bad.jsonl") + ":2:"), std::string::npos) << refused.error;
  EXPECT_NE(refused.error.find("; --skip-bad-lines leaves such lines out\n"), std::string::npos)
      << refused.error;
  const CommandResult built = tokens("bad.jsonl", {"--skip-bad-lines", "--max-invalid-utf8", "9"});
  ASSERT_EQ(built.status, ExitCode::kSuccess) << built.error;
  EXPECT_NE(built.error.find("note: 5 bad lines of 7 left out, the first of them " +
                             path("bad.jsonl") + ":2:"),
            std::string::npos)
      << built.error;
  EXPECT_EQ(sentences_in_store(), 2);
  // The shards that left lines out do not stand for a text without bad lines.
  EXPECT_EQ(tokens("bad.jsonl", {"--max-invalid-utf8", "9"}).status, ExitCode::kData);
}

TEST_F(TextForms, OptionsOfJsonLinesAreNotIgnoredInSilence) {
  const CommandResult built =
      tokens("sentences.txt", {"--json-key", "content", "--skip-bad-lines"});
  ASSERT_EQ(built.status, ExitCode::kSuccess) << built.error;
  for (const char* option : {"--json-key", "--skip-bad-lines"}) {
    EXPECT_NE(built.error.find(
                  fmt::format("note: {} has no effect: no --input-file is JSON Lines\n", option)),
              std::string::npos)
        << built.error;
  }
}

TEST_F(TextForms, AFileMayHaveACommaInItsName) {
  fs::rename(path("wrapped.txt"), path("wrapped, of old.txt"));
  const CommandResult built = tokens("wrapped, of old.txt," + path("sentences.txt"));
  ASSERT_EQ(built.status, ExitCode::kSuccess) << built.error;
  EXPECT_EQ(sentences_in_store(), 60 + 24);
}

}  // namespace
}  // namespace cloze::cli

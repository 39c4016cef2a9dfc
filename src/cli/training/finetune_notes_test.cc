// What is said of a fine-tuned model that has learned nothing, and of texts that are too long for it.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/run_command_test.h"
#include "cli/training/small_run_test.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class FinetuneNotes : public testing::Test {
 protected:
  // All pairs of texts are alike, and half of them have each class.
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "RTE");
    fs::create_directories(folder_ / "wrong" / "RTE");
    write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\ncat\ndog\n");
    std::string rows = "index\tsentence1\tsentence2\tlabel\n";
    for (int i = 0; i < 8; ++i) {
      rows += std::to_string(i) + "\ta cat\ta dog\t" +
              (i % 2 == 0 ? "entailment\n" : "not_entailment\n");
    }
    write("RTE/train.tsv", rows);
    write("RTE/dev.tsv", rows);
    write("squad.json", R"({"version": "v2.0", "data": [{"title": "t", "paragraphs": [{
      "context": "a cat", "qas": [{"id": "1", "question": "cat", "is_impossible": false,
      "answers": [{"text": "cat", "answer_start": 2}]}]}]}]})");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    platform::write_file_atomically(folder_ / name, text);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  CommandResult tune(const std::string& command, const Words& more) const {
    Words words = small_run_words();
    words.insert(words.begin(), command);
    words.insert(words.end(), {"--vocab-file=" + path("vocab.txt"), "--vocab-size=8",
                               "--micro-batch-size=1", "--epochs=1", "--save-path=" + path("run")});
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words);
  }
  CommandResult tune_on_pairs() const {
    return tune("glue", {"--task-name=RTE", "--data-dir=" + folder_.string()});
  }
  CommandResult classify(const Words& texts, const Words& more = {}) const {
    Words words = {"classify", "--init-checkpoint", path("run")};
    for (const std::string& text : texts) words.insert(words.end(), {"--text", text});
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words);
  }
  static void expect_said(const CommandResult& result, const std::string& text) {
    EXPECT_EQ(result.status, ExitCode::kSuccess) << result.error;
    EXPECT_NE(result.error.find(text), std::string::npos) << result.error;
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / "finetune_notes_test";
};

TEST_F(FinetuneNotes, OneClassForAllExamples) {
  const CommandResult run = tune_on_pairs();
  expect_said(run, "note: the model gives all 8 examples of RTE the class ");
  expect_said(run,
              ", which 50.0 % of them have; it has not learned to tell them apart: train longer, "
              "change the learning rate, or start from a model that was trained longer\n");
  const CommandResult few = classify(Words(9, "a cat"));
  EXPECT_EQ(few.error.find("nearly the same"), std::string::npos) << few.error;
  const CommandResult many = classify(Words(10, "a cat"));
  expect_said(many, "note: all 10 texts are ");
  expect_said(many, ", with nearly the same probability (");
  expect_said(many, "): the model may not have learned to tell texts apart\n");
}

TEST_F(FinetuneNotes, NoAnswerToAnyQuestion) {
  const CommandResult run =
      tune("squad", {"--train-file=" + path("squad.json"), "--predict-file=" + path("squad.json"),
                     "--version-2-with-negative=true", "--null-score-diff-threshold=-1000",
                     "--doc-stride=4", "--max-query-length=4"});
  expect_said(run,
              "note: the model gives none of the 1 questions an answer; it has not learned to find "
              "any: train longer, change the learning rate, or start from a model that was trained "
              "longer\n");
}

// Nothing is trained on text that the vocabulary hardly has a word of.
TEST_F(FinetuneNotes, TextOfAnotherVocabularyIsRefused) {
  write("wrong/RTE/train.tsv",
        "index\tsentence1\tsentence2\tlabel\n0\ta \u5317\t\u5317 \u4eac cat\tentailment\n");
  const Words wrong = {"--task-name=RTE", "--data-dir=" + path("wrong")};
  const CommandResult refused = tune("glue", wrong);
  EXPECT_EQ(refused.status, ExitCode::kUsage) << refused.error;
  EXPECT_NE(refused.error.find(
                "RTE/train.tsv: 60.00 % of the tokens are [UNK], most often for \u5317 (2), \u4eac "
                "(1); give the vocabulary that was made for this text, or make one: cloze data "
                "vocabulary, or allow it with --max-unknown-tokens 60\n"),
            std::string::npos)
      << refused.error;
  EXPECT_FALSE(fs::exists(path("run")));
  tune_on_pairs();
  const auto expect_cure = [&](const Words& more, const std::string& cure) {
    Words words = wrong;
    words.insert(words.end(), {"--init-checkpoint=" + path("run"), "--save-path=" + path("next")});
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.begin(), "glue");
    const CommandResult result = run_command(words);
    EXPECT_EQ(result.status, ExitCode::kUsage) << result.error;
    EXPECT_NE(result.error.find("; " + cure + ", or allow it with"), std::string::npos)
        << result.error;
  };
  expect_cure({}, "start from a model that was made for such text");
  expect_cure({"--vocab-file=" + path("vocab.txt")},
              "leave out --vocab-file, or give the start model's");
  fs::remove_all(path("run"));
  Words allowed = wrong;
  allowed.push_back("--max-unknown-tokens=60");
  expect_said(tune("glue", allowed),
              "note: " + path("wrong/RTE/train.tsv") + ": 60.00 % of the tokens are [UNK], ");
}

TEST_F(FinetuneNotes, UnknownTokensAreCountedInEachFile) {
  const Words files = {"--train-file=" + path("squad.json"), "--predict-file=" + path("squad.json"),
                       "--doc-stride=4", "--max-query-length=4"};
  const CommandResult known = tune("squad", files);
  expect_said(known, path("squad.json") + ": 0.00 % of the tokens are [UNK]\n");
  std::string text = platform::read_file(path("squad.json"));
  text.replace(text.find("\"question\": \"cat\""), 17, "\"question\": \"zoo\"");
  write("squad.json", text);
  const CommandResult refused = tune("squad", files);
  EXPECT_NE(refused.error.find("33.33 % of the tokens are [UNK], most often for z (1); "),
            std::string::npos)
      << refused.error;
}

// The model has 16 positions.
TEST_F(FinetuneNotes, TextsThatAreTooLong) {
  tune_on_pairs();
  std::string words;
  for (int i = 0; i < 100; ++i) words += "cat ";
  expect_said(classify({words}), "note: the text has 100 tokens; only 14 of them were read\n");
  const CommandResult one = classify({words, "a"}, {"--json"});
  expect_said(one,
              "note: 1 of 2 texts are too long and were cut; the longest has 100 tokens, of which "
              "14 were read\n");
  EXPECT_NE(one.out.find(R"("truncated":{"tokens":100,"kept":14}})"), std::string::npos) << one.out;
}

}  // namespace
}  // namespace cloze::cli

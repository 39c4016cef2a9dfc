// What is said of a fine-tuned model that has learned nothing, and of texts that are too long for it.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/run_command_test.h"
#include "cli/training/small_run_test.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"

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

// A model and its vocabulary through the whole program: fewer rows than tokens, and a tokenizer
// that is in tokenizer.json alone.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/run_command_test.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

class ModelVocabulary : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "RTE");
    write("vocab.txt",
          "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nthe\ncat\nsat\non\nwho\n?\n.\nmat\nhill\n");
    std::string text;
    for (int i = 0; i < 20; ++i) text += "the cat sat on the mat .\na cat sat on a hill .\n\n";
    write("text.txt", text);
    write("RTE/dev.tsv", "index\tsentence1\tsentence2\tlabel\n0\tthe hill\ta cat\tentailment\n");
    write("RTE/train.tsv", platform::read_file(path("RTE/dev.tsv")));
    write("squad.json", R"({"version": "1.1", "data": [{"title": "t", "paragraphs": [{
      "context": "the cat sat on the hill .", "qas": [{"id": "1", "question": "who sat ?",
      "answers": [{"text": "cat", "answer_start": 4}]}]}]}]})");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    platform::write_file_atomically(folder_ / name, text);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  // With 13 rows the model lacks "mat" and "hill".
  CommandResult pretrain(const Arguments& data, const std::string& save_path,
                         const std::string& rows = "13") const {
    Arguments arguments{"pretrain",
                        "--vocab-size",
                        rows,
                        "--hidden-size",
                        "16",
                        "--num-hidden-layers",
                        "1",
                        "--num-attention-heads",
                        "2",
                        "--intermediate-size",
                        "16",
                        "--max-position-embeddings",
                        "32",
                        "--seq-length",
                        "32",
                        "--max-predictions-per-seq",
                        "5",
                        "--micro-batch-size",
                        "4",
                        "--num-train-steps",
                        "12",
                        "--threads",
                        "1",
                        "--progress-bar",
                        "false",
                        "--save-path",
                        path(save_path)};
    arguments.insert(arguments.end(), data.begin(), data.end());
    return run_command(arguments);
  }
  static void expect_success(const CommandResult& result, const char* what) {
    EXPECT_EQ(result.status, ExitCode::kSuccess) << what << ": " << result.error;
  }
  static void expect_note(const CommandResult& result, const std::string& part) {
    expect_success(result, part.c_str());
    EXPECT_NE(result.error.find(part), std::string::npos) << result.error;
  }
  // Fine-tunes a model on both tasks, and uses the results. Both print the note, and how much of
  // their data it concerns.
  void expect_tasks_work(const std::string& model, const std::string& note) const {
    const bool counts = !note.empty();
    const Arguments tune{"--init-checkpoint", model, "--micro-batch-size", "1",    "--epochs", "1",
                         "--threads",         "1",   "--progress-bar",     "false"};
    const auto with = [&](Arguments first) {
      first.insert(first.end(), tune.begin(), tune.end());
      return first;
    };
    const CommandResult squad =
        run_command(with({"squad", "--train-file", path("squad.json"), "--predict-file",
                          path("squad.json"), "--save-path", path("qa")}));
    const CommandResult glue = run_command(with({"glue", "--task-name", "RTE", "--data-dir",
                                                 folder_.string(), "--save-path", path("rte")}));
    expect_note(squad, note);
    expect_note(glue, note);
    expect_note(squad, counts ? "squad.json: 1 of 10 tokens have no row in the model" : "");
    expect_note(glue, counts ? "train.tsv: 1 of 4 tokens have no row in the model" : "");
    for (const CommandResult* task : {&squad, &glue}) {
      EXPECT_EQ(task->error.find("no row") != std::string::npos, counts) << task->error;
    }
    expect_success(run_command({"answer", "--init-checkpoint", path("qa"), "--question",
                                "who sat ?", "--context", "the cat sat on the hill ."}),
                   "answer");
    expect_success(
        run_command({"classify", "--init-checkpoint", path("rte"), "--text", "the hill"}),
        "classify");
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / "model_vocabulary_test";
  const std::string kRowless_ =
      "has 15 tokens, the model 13 rows: the last 2 tokens are read as "
      "[UNK]";
};

TEST_F(ModelVocabulary, TextIsTrainedOnWithFewerRowsThanTokens) {
  const CommandResult text =
      pretrain({"--input-file", path("text.txt"), "--vocab-file", path("vocab.txt")}, "run");
  expect_note(text, kRowless_ + "; ");
  expect_note(text, " tokens in 20 of 20 samples");
  EXPECT_EQ(text.error.find("; 0 of "), std::string::npos) << text.error;
  const Arguments fill{"fill", "--init-checkpoint", path("run"), "--text", "the [MASK] hill ."};
  expect_note(run_command(fill), kRowless_);
  expect_success(
      run_command({"compile", "--init-checkpoint", path("run"), "--output-file", path("m")}),
      "compile");
  const CommandResult compiled =
      run_command({"fill", "--init-checkpoint", path("m"), "--text", "the [MASK] hill ."});
  expect_note(compiled, kRowless_);
  EXPECT_EQ(compiled.out, run_command(fill).out);
  EXPECT_EQ(compiled.out.find("the [MASK] hill .\n  blank 1  [4, 10)\n"), 0u) << compiled.out;
  expect_tasks_work(path("run"), kRowless_);
}

TEST_F(ModelVocabulary, RecordsAreTrainedOnWithFewerRowsThanTokens) {
  expect_success(run_command({"data", "records", "--input-file", path("text.txt"), "--vocab-file",
                              path("vocab.txt"), "--do-lower-case", "--sequence-length", "32",
                              "--mask-tokens", "5", "--output-file", path("records.tfrecord")}),
                 "records");
  const CommandResult named = pretrain({"--train-file", path("records.tfrecord"), "--vocab-file",
                                        path("vocab.txt"), "--duplicate-factor", "6"},
                                       "run");
  expect_note(named, kRowless_ + "; ");
}

TEST_F(ModelVocabulary, AFolderOfTransformersFiveOpensEverywhere) {
  expect_success(
      pretrain({"--generated-data", "true", "--vocab-file", path("vocab.txt")}, "run", "15"),
      "pretrain");
  const fs::path model = folder_ / "run" / "checkpoint-12";
  const CommandResult before =
      run_command({"fill", "--init-checkpoint", model.string(), "--text", "a [MASK] ."});
  expect_success(before, "fill");
  fs::remove(model / "vocab.txt");
  fs::remove(model / "special_tokens_map.json");
  const CommandResult after =
      run_command({"fill", "--init-checkpoint", model.string(), "--text", "a [MASK] ."});
  expect_success(after, "fill without vocab.txt");
  EXPECT_EQ(after.out, before.out);
  expect_tasks_work(model.string(), "");
  expect_success(
      run_command({"convert", "hf2google", model.string(), "--output-dir", path("google")}),
      "convert");
  EXPECT_EQ(platform::read_file(path("google/vocab.txt")), platform::read_file(path("vocab.txt")));
}

}  // namespace
}  // namespace cloze::cli

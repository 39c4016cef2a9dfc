// Data and models, made on the spot, that tests of `cloze glue` and `squad` train in milliseconds.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/run_command_test.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"

namespace cloze::cli {

// Options of `second`, which all have values, override those of the same name.
inline std::vector<std::string> operator+(std::vector<std::string> first,
                                          const std::vector<std::string>& second) {
  for (const std::string& word : second) {
    const auto same = std::find(first.begin(), first.end(), word);
    if (word.starts_with("--") && same != first.end()) first.erase(same, same + 2);
  }
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

inline const std::vector<std::string> kTinyModel = {"--vocab-size",
                                                    "32",
                                                    "--hidden-size",
                                                    "16",
                                                    "--num-hidden-layers",
                                                    "1",
                                                    "--num-attention-heads",
                                                    "2",
                                                    "--intermediate-size",
                                                    "16",
                                                    "--max-position-embeddings",
                                                    "64",
                                                    "--seq-length",
                                                    "32",
                                                    "--hidden-dropout-prob",
                                                    "0",
                                                    "--attention-probs-dropout-prob",
                                                    "0",
                                                    "--progress-bar",
                                                    "false",
                                                    "--threads",
                                                    "1"};

class FinetuneCommands : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / "RTE");
    write("vocab.txt",
          "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nthe\ncat\ndog\nsat\nran\nwho\nwhere\non\nmat\n"
          "hill\n.\n?\n");
    std::string rows;
    for (int i = 0; i < 8; ++i) {
      rows += std::to_string(2 * i) + "\tthe cat sat\ta cat sat\tentailment\n";
      rows += std::to_string(2 * i + 1) + "\tthe cat sat\tthe dog ran\tnot_entailment\n";
    }
    write("RTE/train.tsv", "index\tsentence1\tsentence2\tlabel\n" + rows);
    write("RTE/dev.tsv", "index\tsentence1\tsentence2\tlabel\n" + rows);
    write("RTE/test.tsv", "index\tsentence1\tsentence2\n0\tthe cat sat\ta cat sat\n");
    write("squad.json", R"({"version": "1.1", "data": [{"title": "t", "paragraphs": [{
      "context": "the cat sat on the mat . the dog ran on the hill .", "qas": [
      {"id": "1", "question": "who sat ?", "answers": [{"text": "cat", "answer_start": 4}]},
      {"id": "2", "question": "who ran ?", "answers": [{"text": "dog", "answer_start": 29}]}]}]}]})");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    platform::write_file_atomically(folder_ / name, text);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::vector<std::string> glue() const {
    return std::vector<std::string>{"glue",
                                    "--task-name",
                                    "rte",
                                    "--data-dir",
                                    folder_,
                                    "--vocab-file",
                                    path("vocab.txt"),
                                    "--epochs",
                                    "30",
                                    "--micro-batch-size",
                                    "4",
                                    "--initializer-range",
                                    "0.2",
                                    "--base-learning-rate",
                                    "5e-3",
                                    "--save-path",
                                    path("rte"),
                                    "--evaluations-per-epoch",
                                    "0.2"} +
           kTinyModel;
  }
  std::vector<std::string> squad() const {
    return std::vector<std::string>{"squad"} + kTinyModel +
           std::vector<std::string>{"--train-file",
                                    path("squad.json"),
                                    "--predict-file",
                                    path("squad.json"),
                                    "--vocab-file",
                                    path("vocab.txt"),
                                    "--hidden-size",
                                    "32",
                                    "--num-hidden-layers",
                                    "2",
                                    "--epochs",
                                    "300",
                                    "--micro-batch-size",
                                    "2",
                                    "--initializer-range",
                                    "0.2",
                                    "--base-learning-rate",
                                    "3e-3",
                                    "--save-path",
                                    path("qa"),
                                    "--evaluations-per-epoch",
                                    "0.02"};
  }

  // A model with random weights in start/checkpoint-0, and a task that starts from it.
  void make_start(const std::vector<std::string>& more) const {
    const auto start =
        std::vector<std::string>{"pretrain"} + kTinyModel +
        std::vector<std::string>{"--generated-data", "true",       "--num-train-steps", "0",
                                 "--save-path",      path("start")} +
        more;
    ASSERT_EQ(run_command(start).status, ExitCode::kSuccess);
  }
  std::vector<std::string> glue_from_start() const {
    return {"glue",
            "--task-name",
            "rte",
            "--data-dir",
            folder_,
            "--vocab-file",
            path("vocab.txt"),
            "--init-checkpoint",
            path("start/checkpoint-0"),
            "--epochs",
            "1",
            "--save-path",
            path("from-start"),
            "--micro-batch-size",
            "4",
            "--threads",
            "1"};
  }
  std::vector<std::string> graphcore_form() const {
    return {"--config", path("graphcore.json"), "--optimizer", "adamw"};
  }
  std::string weights(const std::string& checkpoint) const {
    return platform::read_file(folder_ / checkpoint / "model.safetensors");
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / "finetune_commands_test";
};

}  // namespace cloze::cli

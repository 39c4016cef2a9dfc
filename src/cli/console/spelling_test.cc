#include "cli/console/spelling.h"

#include <gtest/gtest.h>

#include <fstream>

#include "cli/run_command_test.h"

namespace cloze::cli {
namespace {

// Says of two options that they came from the command line.
class SpellingTest : public testing::Test {
 protected:
  SpellingTest() {
    set_spelling([](std::string_view name) -> std::optional<std::string> {
      if (name == "num_train_steps") return "--num-train-steps";
      if (name == "epochs") return "--epochs";
      if (name == "seed") return "seed";
      return std::nullopt;
    });
  }
  ~SpellingTest() override { set_spelling({}); }
};

TEST_F(SpellingTest, NamesOptionsAsTheyWereGiven) {
  EXPECT_EQ(spelled("num_train_steps 5 and `epochs` 3 both set the length; give one"),
            "--num-train-steps 5 and --epochs 3 both set the length; give one");
  EXPECT_EQ(spelled("(num_train_steps)"), "(--num-train-steps)");
  EXPECT_EQ(spelled("num_train_steps"), "--num-train-steps");
  EXPECT_EQ(spelled("lower `seed`"), "lower seed");
}

TEST_F(SpellingTest, LeavesOtherWordsAsTheyAre) {
  for (const std::string text :
       {"3 epochs of 5 samples", "data/num_train_steps", "num_train_steps.txt", "--num_train_steps",
        "\"num_train_steps\"", "num_train_steps_", "`wandb sync` sends it", "`other`", "some_word",
        "", "caf\xc3\xa9 _ `"}) {
    EXPECT_EQ(spelled(text), text);
  }
}

TEST(Spelling, LeavesAllAsItIsWhereNoCommandRuns) {
  EXPECT_EQ(spelled("num_train_steps `epochs`"), "num_train_steps `epochs`");
}

std::string written(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

std::string said(const std::vector<std::string>& words) { return run_command(words).error; }

TEST(Spelling, IsThatOfTheCommandLineOrOfTheFile) {
  const std::string lengths = written("lengths.json", R"({"num_train_steps": 5, "epochs": 3})");
  const std::string batch = written("batch.json", R"({"epochs": 3, "seed": 7})");
  const std::string idle = written("idle.json", R"({"num_train_steps": 1, "momentum": 0.5})");
  const std::string invalid = written("invalid.json", R"({"num_train_steps": -1})");
  const struct {
    std::vector<std::string> words;
    std::string message;
  } cases[] = {
      {{"pretrain"}, "cloze: the length of the run is not set; give --num-train-steps or --epochs"},
      {{"pretrain", "--config", batch, "--epochs="},
       "cloze: the length of the run is not set; give num_train_steps or --epochs"},
      {{"plan", "--num-train-steps", "5", "--epochs", "3"},
       "cloze: --num-train-steps 5 and --epochs 3 both set the length; give one"},
      {{"plan", "--config", lengths},
       "cloze: num_train_steps 5 and epochs 3 both set the length; give one"},
      {{"plan", "--num-train-steps", "-1"},
       "cloze: --num-train-steps is -1; it must be from 0 to 2147483647"},
      {{"plan", "--config", invalid},
       "cloze: " + invalid + ": num_train_steps is -1; it must be from 0 to 2147483647"},
      {{"plan", "--num-train-steps", "1", "--optimizer", "lamb", "--momentum", "0.5", "--fit", "x"},
       "note: --momentum has no effect with --optimizer lamb\ncloze: --fit is x; "},
      {{"plan", "--config", idle, "--optimizer", "lamb", "--fit", "x"},
       "note: momentum has no effect with --optimizer lamb\ncloze: --fit is x; "},
      {{"pretrain", "--config", batch, "--seq-length", "600", "--generated-data",
        "--num-train-steps", "1"},
       "cloze: --seq-length 600 is over max_position_embeddings 512; raise "
       "max_position_embeddings"},
      {{"pretrain", "--seq-length", "600", "--generated-data", "--num-train-steps", "1"},
       "cloze: --seq-length 600 is over --max-position-embeddings 512; raise "
       "--max-position-embeddings"},
      // Of a command that reads no file, in a message of a room that knows no flags.
      {{"latency", "--threads", "-2", "--init-checkpoint", "x"},
       "cloze: --threads is -2; it must be at least 1"},
  };
  for (const auto& [words, message] : cases) {
    EXPECT_NE(said(words).find(message), std::string::npos) << message << "\n" << said(words);
  }
}

}  // namespace
}  // namespace cloze::cli

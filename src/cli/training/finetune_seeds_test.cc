// Runs of several seeds of `cloze glue`, to which a resumed run adds.
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

class FinetuneSeeds : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "RTE");
    platform::write_file_atomically(folder_ / "vocab.txt",
                                    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\ncat\ndog\n");
    const std::string rows =
        "index\tsentence1\tsentence2\tlabel\n0\ta cat\ta cat\tentailment\n"
        "1\ta cat\ta dog\tnot_entailment\n";
    platform::write_file_atomically(folder_ / "RTE/train.tsv", rows);
    platform::write_file_atomically(folder_ / "RTE/dev.tsv", rows);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  // Of two seeds, 1234 and 1235.
  std::vector<std::string> start() const {
    std::vector<std::string> words = small_run_words();
    words.insert(words.begin(), "glue");
    words.insert(words.end(),
                 {"--task-name=RTE", "--data-dir=" + folder_.string(),
                  "--vocab-file=" + path("vocab.txt"), "--vocab-size=8", "--micro-batch-size=2",
                  "--epochs=1", "--save-path=" + path("runs"), "--num-seeds=2"});
    return words;
  }
  CommandResult resume(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"glue", "--restore-dir=" + path("runs")};
    words.insert(words.end(), more.begin(), more.end());
    return run_command(words);
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / "finetune_seeds_test";
};

// As after a signal in the third of four seeds.
TEST_F(FinetuneSeeds, ThoseThatWereAddedStayWithTheRun) {
  ASSERT_EQ(run_command(start()).status, ExitCode::kSuccess);
  const CommandResult added = resume({"--num-seeds=4"});
  ASSERT_EQ(added.status, ExitCode::kSuccess) << added.error;
  fs::remove_all(path("runs/seed-1237"));
  const CommandResult again = resume();
  ASSERT_EQ(again.status, ExitCode::kSuccess) << again.error;
  EXPECT_EQ(again.out, added.out);
  EXPECT_NE(
      again.error.find("note: --num-seeds is 4: seeds were added to the 2 of the first run\n"),
      std::string::npos)
      << again.error;
}

TEST_F(FinetuneSeeds, FewerAreAskedForByName) {
  ASSERT_EQ(run_command(start()).status, ExitCode::kSuccess);
  ASSERT_EQ(resume({"--num-seeds=3"}).status, ExitCode::kSuccess);
  const CommandResult fewer = resume({"--num-seeds=2"});
  ASSERT_EQ(fewer.status, ExitCode::kSuccess) << fewer.error;
  EXPECT_EQ(fewer.error.find("seeds were added"), std::string::npos) << fewer.error;
  EXPECT_NE(fewer.out.find("(2 runs: "), std::string::npos) << fewer.out;
}

// Seeds of another run in the same folder.
TEST_F(FinetuneSeeds, ThoseThatDoNotFollowOnAreNotAdded) {
  ASSERT_EQ(run_command(start()).status, ExitCode::kSuccess);
  fs::copy(path("runs/seed-1235"), path("runs/seed-2000"), fs::copy_options::recursive);
  const CommandResult again = resume();
  ASSERT_EQ(again.status, ExitCode::kSuccess) << again.error;
  EXPECT_NE(again.out.find("(2 runs: "), std::string::npos) << again.out;
}

// Only the folder they resumed from distinguishes them from those of another run.
TEST_F(FinetuneSeeds, OnlyRunsThatWentOnFromThereGoOn) {
  ASSERT_EQ(run_command(start()).status, ExitCode::kSuccess);
  std::vector<std::string> other = start();
  other.insert(other.end(), {"--base-learning-rate=0.01", "--save-path=" + path("other")});
  std::erase(other, "--save-path=" + path("runs"));
  ASSERT_EQ(run_command(other).status, ExitCode::kSuccess);
  const std::vector<std::string> into_other = {"--save-path=" + path("other"), "--epochs=3"};
  const CommandResult refused = resume(into_other);
  EXPECT_EQ(refused.status, ExitCode::kUsage) << refused.error;
  EXPECT_NE(refused.error.find("could not distinguish it from its own checkpoints"),
            std::string::npos)
      << refused.error;
  const std::vector<std::string> onwards = {"--save-path=" + path("onwards"), "--epochs=3"};
  ASSERT_EQ(resume(onwards).status, ExitCode::kSuccess);
  EXPECT_EQ(resume(onwards).status, ExitCode::kSuccess) << "the same command again";
}

TEST_F(FinetuneSeeds, WhatIsScoredAloneIsNamed) {
  ASSERT_EQ(run_command(start()).status, ExitCode::kSuccess);
  const CommandResult all = resume({"--do-evaluation"});
  EXPECT_EQ(all.status, ExitCode::kUsage) << all.error;
  EXPECT_NE(all.error.find("runs has runs of 2 seeds; name one of them: --restore-dir " +
                           path("runs/seed-1234")),
            std::string::npos)
      << all.error;
  // And not the model that they started from.
  std::vector<std::string> tuned = start();
  std::erase(tuned, "--save-path=" + path("runs"));
  tuned.insert(tuned.end(),
               {"--save-path=" + path("tuned"), "--init-checkpoint=" + path("runs/seed-1234")});
  ASSERT_EQ(run_command(tuned).status, ExitCode::kSuccess);
  const CommandResult of_tuned =
      run_command({"glue", "--restore-dir=" + path("tuned"), "--do-evaluation"});
  EXPECT_NE(of_tuned.error.find("--restore-dir " + path("tuned/seed-1234")), std::string::npos)
      << of_tuned.error;
}

TEST_F(FinetuneSeeds, TheFolderOfAllIsNamedToResume) {
  ASSERT_EQ(run_command(start()).status, ExitCode::kSuccess);
  const CommandResult again = run_command(start());
  EXPECT_EQ(again.status, ExitCode::kUsage) << again.error;
  EXPECT_NE(
      again.error.find("holds an earlier run of seeds, seed-1234; resume it with --restore-dir " +
                       path("runs") + " or"),
      std::string::npos)
      << again.error;
}

}  // namespace
}  // namespace cloze::cli

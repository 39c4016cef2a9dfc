#include "cli/launch/restart.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "platform/files/atomic_file.h"

namespace cloze::cli {
namespace {

using Words = std::vector<std::string>;

TEST(Restart, OnlyAfterALoss) {
  for (const int code : {4, 134, 137, 139}) EXPECT_TRUE(may_restart(code)) << code;
  for (const int code : {0, 1, 2, 3, 5, 6, 75}) EXPECT_FALSE(may_restart(code)) << code;
  EXPECT_FALSE(has_lost_process({.exit_code = 4})) << "a full disk";
  EXPECT_TRUE(has_lost_process({.exit_code = 4, .names_loss = true}));
  EXPECT_TRUE(has_lost_process({.exit_code = 137}));
  EXPECT_EQ(describe_end(4), "4");
  EXPECT_EQ(describe_end(137), "137: a process was killed by signal 9");
}

TEST(Restart, GoesOnFromTheFolderOfTheRun) {
  EXPECT_EQ(save_path_of({"pretrain", "--restore-dir", "old", "--save-path=run"}), "run");
  EXPECT_EQ(save_path_of({"pretrain", "--restore-dir", "old"}), "old");
  EXPECT_THROW(save_path_of({"pretrain", "--config", "a.json"}), UserError);
  const std::filesystem::path run =
      std::filesystem::path(testing::TempDir()) / "cloze_restart_test";
  std::filesystem::create_directories(run / "checkpoint-20");
  platform::write_file_atomically(run / "checkpoint-20" / "manifest.json", "{}");
  EXPECT_EQ(save_path_of({"pretrain", "--restore-dir", (run / "checkpoint-20").string()}),
            std::filesystem::canonical(run));
  std::filesystem::remove_all(run);
  EXPECT_EQ(resumed_command({"pretrain", "--init-checkpoint", "bert", "--restore-dir=old",
                             "--save-path", "run", "--replicas=4", "--seed=1"},
                            "run"),
            (Words{"pretrain", "--save-path", "run", "--seed=1", "--restore-dir", "run"}));
}

// Hugging Face's names, and underscores, are taken as the options themselves.
TEST(Restart, KnowsOptionsUnderEveryName) {
  EXPECT_EQ(save_path_of({"pretrain", "--output-dir", "run"}), "run");
  EXPECT_EQ(save_path_of({"pretrain", "--save_path=run"}), "run");
  EXPECT_EQ(resumed_command({"pretrain", "--model-name-or-path", "bert",
                             "--resume_from_checkpoint=old", "--output-dir=run"},
                            "run"),
            (Words{"pretrain", "--output-dir=run", "--restore-dir", "run"}));
  EXPECT_EQ(
      restarted_command({"pretrain", "--gradient-accumulation-steps", "2", "--global_batch_size=9"},
                        {.sequences = 9}),
      (Words{"pretrain", "--global-batch-size=9"}));
}

TEST(Restart, BeginsAgainWithTheSequencesThatAStepHad) {
  const Words command{"pretrain", "--replicas", "4", "--gradient-accumulation-count=2", "--seed=1"};
  EXPECT_EQ(restarted_command(command, {.sequences = 32, .replicas = 3}),
            (Words{"pretrain", "--seed=1", "--global-batch-size=32", "--replicas=3"}));
  EXPECT_EQ(restarted_command(command, {.sequences = 32, .replicas = std::nullopt}),
            (Words{"pretrain", "--seed=1", "--global-batch-size=32"}));
  EXPECT_EQ(restarted_command({"pretrain", "--global-batch-size", "9"}, {.sequences = 9}),
            (Words{"pretrain", "--global-batch-size=9"}));
}

TEST(Restart, OneProcessLessOrThoseOfAHost) {
  EXPECT_EQ(ranks_left({.processes = 4, .hosts = {}}, {}).processes, 3);
  const Ranks two{.processes = 6, .hosts = {{"a", 4}, {"b", std::nullopt}}};
  EXPECT_EQ(ranks_left(two, {}).processes, 5);
  const Ranks left = ranks_left(two, {{"a", 4}});
  EXPECT_EQ(left.processes, 3);
  EXPECT_EQ(left.hosts, (std::vector<Host>{{"b", 3}}));
  EXPECT_EQ(ranks_left(two, two.hosts).processes, 0);
}

TEST(Restart, OfReplicasOnlyWholeOnes) {
  for (const auto& [processes, whole] : {std::pair(4, 4), {3, 2}, {1, 0}, {0, 0}}) {
    EXPECT_EQ(whole_replicas(processes, 2), whole) << processes;
    EXPECT_EQ(whole_replicas(processes, 1), processes);
  }
  EXPECT_EQ(whole_replicas(7, 3), 6);
}

}  // namespace
}  // namespace cloze::cli

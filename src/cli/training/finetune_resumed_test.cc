// Runs of `cloze glue` with several seeds, and runs that go on.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/training/small_finetuning_test.h"
#include "formats/json.h"
#include "train/saving/checkpoint.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

TEST_F(FinetuneCommands, SeveralSeedsHaveAMean) {
  const CommandResult result =
      run_command(glue() + std::vector<std::string>{"--num-seeds", "2", "--epochs", "1"});
  ASSERT_EQ(result.status, ExitCode::kSuccess) << result.error;
  EXPECT_NE(result.out.find("(2 runs: "), std::string::npos) << result.out;
  EXPECT_TRUE(fs::exists(path("rte/seed-1234/RTE.tsv")));
  EXPECT_TRUE(fs::exists(path("rte/seed-1235/RTE.tsv")));
  const auto summary = formats::read_json_file(path("rte/seed_summary.json"));
  ASSERT_EQ(summary.at("runs").size(), 2u);
  EXPECT_EQ(summary.at("runs")[1].at("seed"), 1235);
  EXPECT_TRUE(summary.at("summary").at("RTE accuracy").contains("best_seed"));
  EXPECT_NE(result.error.find("seed_summary.json"), std::string::npos) << result.error;
}

// A seed that has begun resumes, one that has not starts as it did originally: both end as they
// did.
TEST_F(FinetuneCommands, SeveralSeedsAreResumed) {
  const auto seeds = glue() + std::vector<std::string>{"--num-seeds", "2", "--epochs", "1"};
  const CommandResult whole = run_command(seeds);
  ASSERT_EQ(whole.status, ExitCode::kSuccess) << whole.error;
  fs::remove_all(path("rte/seed-1235"));
  const CommandResult resumed =
      run_command(seeds + std::vector<std::string>{"--restore-dir", path("rte")});
  ASSERT_EQ(resumed.status, ExitCode::kSuccess) << resumed.error;
  EXPECT_EQ(resumed.out, whole.out);
  EXPECT_NE(resumed.error.find("seed 1235 starts from random weights"), std::string::npos);
}

// Each by itself, also when the run is resumed.
TEST_F(FinetuneCommands, SeedsWithoutGainStopEarly) {
  const auto seeds = glue() + std::vector<std::string>{"--num-seeds",
                                                       "2",
                                                       "--evaluations-per-epoch",
                                                       "4",
                                                       "--early-stopping-patience",
                                                       "2",
                                                       "--early-stopping-min-gain",
                                                       "0.9"};
  const CommandResult whole = run_command(seeds);
  ASSERT_EQ(whole.status, ExitCode::kSuccess) << whole.error;
  const std::string line =
      "stopped early after step 3 of 120: none of the last 2 evaluations exceeds ";
  const size_t first = whole.error.find(line);
  ASSERT_NE(first, std::string::npos) << whole.error;
  EXPECT_NE(whole.error.find(" by more than 0.9; to train longer, resume with a larger "
                             "--early-stopping-patience than 2\n"),
            std::string::npos)
      << whole.error;
  EXPECT_NE(whole.error.find(line, first + 1), std::string::npos) << "of the other seed";
  const CommandResult again = run_command({"glue", "--restore-dir", path("rte")});
  EXPECT_NE(again.error.find(line), std::string::npos) << again.error;
  EXPECT_EQ(again.out, whole.out);
  const CommandResult longer =
      run_command({"glue", "--restore-dir", path("rte"), "--early-stopping-patience", "3"});
  EXPECT_NE(longer.error.find("stopped early after step 4 of 120: "), std::string::npos)
      << longer.error;
}

// No option needs to be repeated; the run of one seed can also be resumed alone.
TEST_F(FinetuneCommands, SeedsAreResumedWithTheOptionsTheyHad) {
  const auto seeds = glue() + std::vector<std::string>{"--num-seeds", "2", "--epochs", "1"};
  const CommandResult whole = run_command(seeds);
  ASSERT_EQ(whole.status, ExitCode::kSuccess) << whole.error;
  fs::remove_all(path("rte/seed-1235"));
  const CommandResult resumed = run_command({"glue", "--restore-dir", path("rte")});
  ASSERT_EQ(resumed.status, ExitCode::kSuccess) << resumed.error;
  EXPECT_EQ(resumed.out, whole.out);
  const CommandResult one =
      run_command({"glue", "--restore-dir", path("rte/seed-1235"), "--epochs", "2"});
  ASSERT_EQ(one.status, ExitCode::kSuccess) << one.error;
  EXPECT_NE(one.error.find("from here on --epochs 2.0 (was 1.0)"), std::string::npos) << one.error;
  EXPECT_TRUE(fs::exists(path("rte/seed-1235/checkpoint-8")));
}

// The start is needed again, by the seed that has not begun, and computes as it did.
TEST_F(FinetuneCommands, SeedsThatStartFromAModelAreResumed) {
  make_start({});
  write("graphcore.json", R"({"pipeline_stages": [], "precision": "32"})");
  for (const auto& form : {std::vector<std::string>{}, graphcore_form()}) {
    const auto seeds = glue_from_start() + form + std::vector<std::string>{"--num-seeds", "2"};
    const CommandResult whole = run_command(seeds);
    ASSERT_EQ(whole.status, ExitCode::kSuccess) << whole.error;
    const std::string second = weights("from-start/seed-1235/checkpoint-4");
    for (const auto& given :
         {std::vector<std::string>{}, {"--init-checkpoint", path("start/checkpoint-0")}}) {
      fs::remove_all(path("from-start/seed-1235"));
      const CommandResult resumed = run_command(
          std::vector<std::string>{"glue", "--restore-dir", path("from-start")} + given);
      ASSERT_EQ(resumed.status, ExitCode::kSuccess) << resumed.error;
      EXPECT_EQ(resumed.out, whole.out);
      EXPECT_EQ(weights("from-start/seed-1235/checkpoint-4"), second);
    }
    fs::remove_all(path("from-start"));
  }
}

TEST_F(FinetuneCommands, ARunGoesOnInAnotherFolderWithItsBest) {
  ASSERT_EQ(run_command(glue() + std::vector<std::string>{"--epochs", "20"}).status,
            ExitCode::kSuccess);
  const CommandResult moved =
      run_command(glue() + std::vector<std::string>{"--epochs", "21", "--restore-dir", path("rte"),
                                                    "--save-path", path("moved")});
  ASSERT_EQ(moved.status, ExitCode::kSuccess) << moved.error;
  const auto state = formats::read_json_file(path("moved/checkpoint-84/trainer_state.json"));
  EXPECT_EQ(state.at("log_history").size(), 84u);
  const std::string best = state.at("best_model_checkpoint").get<std::string>();
  EXPECT_TRUE(fs::exists(path("moved/" + best))) << best;
  const fs::path options = path("moved/checkpoint-84");
  EXPECT_EQ(formats::read_json_file(options / "training_config.json").at("epochs"), 21);
  const auto origins = formats::read_json_file(options / "training_config_origins.json");
  EXPECT_EQ(origins.at("epochs"), "command line");
  EXPECT_EQ(origins.at("beta1"), "default");

  // The folder with a trailing slash, and nothing left to train.
  const CommandResult slash =
      run_command(glue() + std::vector<std::string>{"--epochs", "21", "--restore-dir",
                                                    path("moved/checkpoint-84/"), "--save-path",
                                                    path("slash")});
  EXPECT_EQ(slash.status, ExitCode::kSuccess) << slash.error;
  EXPECT_EQ(slash.out, moved.out);
  EXPECT_TRUE(fs::exists(path("slash/" + best))) << slash.error;
  EXPECT_TRUE(fs::exists(path("slash/checkpoint-84")));

  // A damaged best checkpoint is reported, and does not end the run.
  write("rte/" + best + "/model.safetensors", "damaged");
  const CommandResult damaged = run_command(
      glue() + std::vector<std::string>{"--epochs", "21", "--restore-dir",
                                        path("rte/checkpoint-80"), "--save-path", path("less")});
  if (best != "checkpoint-80") {
    EXPECT_EQ(damaged.status, ExitCode::kSuccess) << damaged.error;
    EXPECT_NE(damaged.error.find("cannot be kept"), std::string::npos) << damaged.error;
  }
}

}  // namespace
}  // namespace cloze::cli

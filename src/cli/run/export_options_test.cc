#include "cli/run/export_options.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/error.h"
#include "cli/run_command_test.h"
#include "platform/files/atomic_file.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

RunOptions options_with(const char* dllogger_file, const char* mllog_file = "") {
  RunOptions options;
  options.training.save_path = "runs/one";
  options.exports.dllogger_file = dllogger_file;
  options.exports.mllog_file = mllog_file;
  return options;
}

std::string refusal(const RunOptions& options, int64_t num_seeds = 1) {
  try {
    validate_exports(options);
    validate_exports_of_seeds(options, num_seeds);
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ExportOptions, EachFileHasANameOfItsOwn) {
  EXPECT_EQ(refusal(options_with("")), "accepted");
  EXPECT_EQ(refusal(options_with("dllogger.json", "results/mllog.txt")), "accepted");
  EXPECT_EQ(refusal(options_with("log.json", "results/../log.json")),
            "dllogger_file and mllog_file are both results/../log.json; give each a name of its "
            "own");
}

TEST(ExportOptions, WhatTheRunWritesItselfIsRefused) {
  const std::string absolute = fs::absolute("runs/one/metrics.jsonl").string();
  for (const std::string& used :
       {std::string("metrics.jsonl"), absolute, std::string("event"), std::string("wandb")}) {
    EXPECT_EQ(
        refusal(options_with(used.c_str())),
        "dllogger_file " + used + " is where the run writes something else; choose another name");
  }
  EXPECT_EQ(refusal(options_with("tokens/store.json")),
            "dllogger_file tokens/store.json is where the run writes something else; choose "
            "another name");
  RunOptions profiled = options_with("");
  profiled.profile_report = "runs/one/metrics.jsonl";
  EXPECT_EQ(refusal(profiled),
            "profile_report runs/one/metrics.jsonl is where the run writes something else; choose "
            "another name");
  EXPECT_EQ(refusal(options_with("../metrics.jsonl")), "accepted");
  EXPECT_EQ(refusal(options_with("event/dllogger.json")), "accepted");
}

TEST(ExportOptions, AnInputIsNotOverwritten) {
  const fs::path input = fs::path(testing::TempDir()) / "cloze_export_options_test.txt";
  platform::write_file_atomically(input, "text\n");
  RunOptions logged = options_with("../cloze_export_options_test.txt"), profiled = options_with("");
  logged.training.save_path = input.parent_path() / "absent";
  profiled.profile_report = input;
  for (const RunOptions& options : {logged, profiled}) {
    EXPECT_THROW(require_other_inputs(options, {"", input}), UserError);
    EXPECT_NO_THROW(require_other_inputs(options, {"", input.parent_path() / "other"}));
  }
  fs::remove(input);
}

TEST(ExportOptions, SeveralSeedsDoNotShareAFile) {
  EXPECT_EQ(refusal(options_with("/tmp/d.json")), "accepted");
  EXPECT_EQ(refusal(options_with("results/d.json"), 3), "accepted");
  for (const std::string shared : {"/tmp/d.json", "../d.json"}) {
    EXPECT_EQ(refusal(options_with(shared.c_str()), 3),
              "dllogger_file " + shared +
                  " would keep only the last of num_seeds 3; give a path below save_path, where "
                  "each has a folder");
  }
  RunOptions profiled = options_with("");
  profiled.profile_report = "p.html";
  EXPECT_EQ(refusal(profiled), "accepted");
  EXPECT_EQ(refusal(profiled, 3),
            "profile_report p.html would keep only the last of num_seeds 3; profile a run of one "
            "seed");
}

TEST(ExportOptions, OnesThatNeedAnotherAreNotedWithoutIt) {
  const std::vector<std::string> plan = {"plan", "--wandb-name", "a", "--submission-org", "b"};
  const std::string alone = run_command(plan).error;
  EXPECT_NE(alone.find("note: --wandb-name has no effect without --wandb\n"), std::string::npos)
      << alone;
  EXPECT_NE(alone.find("note: --submission-org has no effect without --mllog-file\n"),
            std::string::npos)
      << alone;
  std::vector<std::string> both = plan;
  both.insert(both.end(), {"--wandb", "--mllog-file", "m"});
  EXPECT_EQ(run_command(both).error.find("has no effect without"), std::string::npos);
}

}  // namespace
}  // namespace cloze::cli

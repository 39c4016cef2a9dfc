#include "cli/options/option_table.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "base/error.h"
#include "cli/options/stored_options.h"
#include "cli/options/subcommand.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"

namespace cloze::cli {
namespace {

class OptionTableTest : public testing::Test {
 protected:
  OptionTableTest() : command_("test", "train") {
    table_.allow_file();
    table_.add("micro_batch_size", &micro_batch_size_, "", {.minimum = 1});
    table_.add("warmup", &warmup_, "", {.minimum = 0});
    table_.add("use_debiasing", &use_debiasing_, "");
    table_.add("use_bias", &use_bias_, "");
    table_.add("optimizer", &optimizer_, "", {.choices = {"lamb", "adamw"}});
    table_.add("train_file", &train_file_, "");
    table_.add("epochs", &epochs_, "", {.minimum = 0, .maximum = 1000});
    table_.add("lr_power", &lr_power_, "");
    table_.add("text", &texts_, "", {.is_repeatable = true});
    table_.add("output_files", &output_files_, "", {.excludes = {"train_file"}});
    table_.add("next_sentence", enumerated(next_sentence_, {"random", "none"}), "Second part",
               {.choices = {"random", "none"}});
    table_.add_foreign({.name = "pipeline_stages", .reason = "one device holds the model"});
    table_.add_foreign({.name = "device_mapping", .reason = "one device holds the model"});
    table_.add_foreign({.name = "groupbert", .reason = "only BERT is there", .is_refused = true});
    table_.add_foreign({.name = "split", .reason = "always split", .agreeing = true});
    table_.add_flags(command_);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  void resolve(std::vector<std::string> arguments, const std::string& config = "") {
    if (!config.empty()) {
      platform::write_file_atomically(path_, config);
      arguments.insert(arguments.begin(), {"--config", path_});
    }
    std::reverse(arguments.begin(), arguments.end());
    command_.parse(arguments);
    table_.resolve();
  }
  // The message without the file's folder.
  std::string refusal(std::vector<std::string> arguments, const std::string& config = "") {
    try {
      resolve(std::move(arguments), config);
    } catch (const UserError& error) {
      std::string text = error.what();
      if (text.starts_with(path_)) text.replace(0, path_.size(), "FILE");
      return text;
    }
    return "accepted";
  }

  const std::string path_ = testing::TempDir() + "option_table_test.json";
  int64_t micro_batch_size_ = 4;
  double warmup_ = 0.1;
  bool use_debiasing_ = false;
  bool use_bias_ = true;
  std::string optimizer_ = "lamb";
  std::string train_file_;
  std::optional<double> epochs_;
  std::vector<double> lr_power_ = {1.0};
  std::vector<std::string> texts_;
  std::vector<std::filesystem::path> output_files_;
  enum class NextSentence { kRandom, kNone } next_sentence_ = NextSentence::kRandom;
  OptionTable table_;
  CLI::App command_;
};

TEST_F(OptionTableTest, CommandLineOverFileOverDefault) {
  resolve(
      {"--micro-batch-size", "16", "--use-debiasing", "--use-bias=false", "--lr-power", "0.5,1"},
      R"({"micro_batch_size": 8, // per replica
              "warmup": 200, "epochs": 1.5, "train_file": ["a", "b"]})");
  EXPECT_EQ(micro_batch_size_, 16);
  EXPECT_EQ(warmup_, 200);
  EXPECT_TRUE(use_debiasing_);
  EXPECT_FALSE(use_bias_);
  EXPECT_EQ(optimizer_, "lamb");
  EXPECT_EQ(train_file_, "a,b");
  EXPECT_EQ(epochs_, 1.5);
  EXPECT_EQ(lr_power_, (std::vector<double>{0.5, 1}));
  EXPECT_EQ(table_.origin("micro_batch_size"), "command line");
  EXPECT_EQ(table_.origin("warmup"), path_);
  EXPECT_EQ(table_.origin("optimizer"), "default");
}

TEST_F(OptionTableTest, FlagsTakeSeparateWordsToo) {
  resolve(
      {"--use-bias", "No", "--use-debiasing", "True", "--warmup", "1e2", "--lr-power", "[0.5, 2]"});
  EXPECT_FALSE(use_bias_);
  EXPECT_TRUE(use_debiasing_);
  EXPECT_EQ(warmup_, 100);
  EXPECT_EQ(lr_power_, (std::vector<double>{0.5, 2}));
}

TEST_F(OptionTableTest, RepeatedTextsAreKeptWholeAndListsOfFilesAreCut) {
  resolve({"--text", "[MASK], the [MASK]", "--text", "b", "--output-files=a,b/c,"});
  EXPECT_EQ(texts_, (std::vector<std::string>{"[MASK], the [MASK]", "b"}));
  EXPECT_EQ(output_files_, (std::vector<std::filesystem::path>{"a", "b/c"}));
  EXPECT_EQ(table_.values().at("output_files"), (std::vector<std::string>{"a", "b/c"}));
}

TEST_F(OptionTableTest, AnEnumerationIsGivenByName) {
  resolve({"--next-sentence", "none"});
  EXPECT_EQ(next_sentence_, NextSentence::kNone);
  EXPECT_EQ(table_.values().at("next_sentence"), "none");
  EXPECT_NE(command_.help().find("Second part {random, none} [random]"), std::string::npos)
      << command_.help();
}

TEST_F(OptionTableTest, WhatExcludesEachOtherIsRefused) {
  EXPECT_THROW(resolve({"--output-files", "a", "--train-file", "b"}), CLI::ExcludesError);
}

TEST(OptionTable, PositionalAndRequiredOptionsAreTaken) {
  std::string action;
  int32_t threads = 0;
  OptionTable table;
  table.add("action", &action, "", {.is_required = true, .is_positional = true});
  table.add("threads", &threads, "", {.is_required = true});
  CLI::App command;
  table.add_flags(command);
  EXPECT_THROW(command.parse("--threads 2"), CLI::RequiredError);
  EXPECT_THROW(command.parse("hf2hf"), CLI::RequiredError);
  command.parse("hf2hf --threads 2");
  table.resolve();
  EXPECT_EQ(action, "hf2hf");
  EXPECT_EQ(threads, 2);
  EXPECT_EQ(command.get_option_no_throw("--config"), nullptr) << "a table without a file";
}

TEST(OptionTable, TheHelpShowsNoDefaultOfWhatIsRequiredAndTheUsageThatWasSet) {
  int64_t processes = 1, restarts = 3;
  OptionTable table;
  table.set_usage("-n N -- COMMAND ...");
  table.add("processes", &processes, "In all", {.is_required = true});
  table.add("restarts", &restarts, "At most");
  CLI::App command("", "launch");
  table.add_flags(command);
  const std::string help = command.help();
  EXPECT_NE(help.find("Usage: launch -n N -- COMMAND ...\n"), std::string::npos) << help;
  EXPECT_EQ(help.find("In all ["), std::string::npos) << help;
  EXPECT_NE(help.find("At most [3]"), std::string::npos) << help;
}

TEST_F(OptionTableTest, AFileOfAnotherTaskIsCalledThatBeforeItsKeysAreUnknown) {
  std::string task = "pretraining";
  OptionTable table;
  table.allow_file();
  table.add("task", &task, "", {.choices = {"pretraining"}, .hint = "SQuAD is for cloze squad"});
  CLI::App command;
  table.add_flags(command);
  platform::write_file_atomically(path_, R"({"doc_stride": 128, "task": "SQuAD"})");
  command.parse("--config " + path_);
  try {
    table.resolve();
    FAIL();
  } catch (const UserError& error) {
    EXPECT_EQ(error.what(),
              path_ + ": task is \"SQuAD\"; choose one of pretraining: SQuAD is for cloze squad");
  }
}

TEST_F(OptionTableTest, NullLeavesTheDefault) {
  resolve({}, R"({"epochs": null, "micro_batch_size": null})");
  EXPECT_FALSE(epochs_.has_value());
  EXPECT_EQ(micro_batch_size_, 4);
  EXPECT_EQ(table_.origin("epochs"), "default");
}

TEST_F(OptionTableTest, ValuesReadBackAsAConfiguration) {
  resolve({"--micro-batch-size", "16"});
  EXPECT_EQ(table_.values().at("micro_batch_size"), 16);
  EXPECT_TRUE(table_.values().at("epochs").is_null());
  EXPECT_EQ(table_.origins().at("micro_batch_size"), "command line");
  const std::string again = formats::json_text(table_.values());
  command_.clear();
  EXPECT_EQ(refusal({}, again), "accepted");
}

TEST_F(OptionTableTest, UnknownKeysNameTheNearest) {
  EXPECT_EQ(refusal({}, R"({"micro_batchsize": 8})"),
            "FILE: unknown key \"micro_batchsize\"; did you mean micro_batch_size?");
  EXPECT_EQ(refusal({}, R"({"zzzzzzzz": 8})"),
            "FILE: unknown key \"zzzzzzzz\"; --help-all lists all");
}

TEST_F(OptionTableTest, ArgumentsWithoutAFlagAreRefused) {
  EXPECT_EQ(refusal({"data.tfrecord"}),
            "argument \"data.tfrecord\" is not understood; options begin with --");
}

TEST_F(OptionTableTest, WrongKindsNameOptionValueAndSource) {
  EXPECT_EQ(refusal({}, R"({"micro_batch_size": "8"})"),
            "FILE: micro_batch_size is \"8\"; it must be a whole number");
}

TEST_F(OptionTableTest, WrongValuesOnTheCommandLine) {
  EXPECT_EQ(refusal({"--micro-batch-size", "many"}),
            "--micro-batch-size is \"many\"; it must be a whole number");
  EXPECT_EQ(refusal({"--warmup", "-1"}), "--warmup is -1; it must be at least 0");
  EXPECT_EQ(refusal({"--optimizer", "sgd"}), "--optimizer is \"sgd\"; choose one of lamb, adamw");
  EXPECT_EQ(refusal({"--use-bias", "maybe"}), "--use-bias is \"maybe\"; it must be true or false");
  EXPECT_EQ(refusal({"--lr-power", "1,x"}),
            "--lr-power is [1,\"x\"]; it must be a number or a list of numbers");
  EXPECT_EQ(refusal({"--epochs", "1001"}), "--epochs is 1001; it must be from 0 to 1000");
}

TEST_F(OptionTableTest, BrokenFilesNameTheLine) {
  EXPECT_EQ(refusal({}, "{\n  \"warmup\": 1,\n  \"warmup\": 2\n}"),
            "FILE:3:10: key \"warmup\" appears twice");
  EXPECT_EQ(refusal({}, "[1]"), "FILE: a configuration is an object: {\"option\": value, ...}");
  EXPECT_NE(refusal({"--config", "/no/such/file"}).find("/no/such/file"), std::string::npos);
}

TEST_F(OptionTableTest, ForeignOptionsLeaveOneNotePerReason) {
  resolve({"--device-mapping", "[0, 1]"},
          R"({"pipeline_stages": [["emb"]], "device_mapping": [0], "groupbert": false,
              "split": true})");
  EXPECT_EQ(
      table_.notes(),
      (std::vector<std::string>{
          path_ + ": pipeline_stages, device_mapping have no effect: one device holds the model",
          "--device-mapping has no effect: one device holds the model"}));
}

TEST_F(OptionTableTest, AForeignOptionThatDisagreesLeavesANote) {
  resolve({}, R"({"split": false})");
  EXPECT_EQ(table_.notes(),
            std::vector<std::string>{path_ + ": split has no effect: always split"});
}

TEST_F(OptionTableTest, SomeForeignOptionsAreRefused) {
  EXPECT_EQ(refusal({"--groupbert"}), "--groupbert is true; only BERT is there");
}

// For a resumed run: its values override defaults; options that are given stay and are reported.
TEST_F(OptionTableTest, WhatIsNotGivenIsTakenFromTheRun) {
  epochs_ = 3.0;
  resolve({"--micro-batch-size", "16", "--optimizer", "lamb"}, R"({"warmup": 200})");
  const auto changes =
      take_run(table_, {.path = "run.json",
                        .values = {{"micro_batch_size", 8},
                                   {"warmup", 100.0},
                                   {"use_debiasing", true},
                                   {"use_bias", true},
                                   {"optimizer", "lamb"},
                                   {"epochs", nullptr},
                                   {"of_another_version", 1}},
                        .origins = {{"use_bias", "default"}, {"use_debiasing", "command line"}}});
  EXPECT_EQ(changes, (std::vector<std::string>{"--micro-batch-size 16 (was 8)",
                                               "warmup 200.0 (was 100.0)"}));
  EXPECT_EQ(micro_batch_size_, 16);
  EXPECT_TRUE(use_debiasing_);
  EXPECT_FALSE(epochs_.has_value());
  EXPECT_TRUE(table_.comes_from_run("use_debiasing"));
  EXPECT_EQ(table_.origin("use_bias"), kDefaultOrigin);
  EXPECT_FALSE(table_.comes_from_run("warmup"));
  EXPECT_EQ(table_.notes(),
            (std::vector<std::string>{
                "run.json: of_another_version is not known here and has no effect"}));
}

TEST_F(OptionTableTest, AnEmptyFlagTakesANumberOfTheRunAway) {
  resolve({"--epochs", ""});
  const auto changes = take_run(table_, {.path = "run.json", .values = {{"epochs", 3.0}}});
  EXPECT_EQ(changes, std::vector<std::string>{"--epochs null (was 3.0)"});
  EXPECT_FALSE(epochs_.has_value());
  EXPECT_FALSE(table_.is_asked_for("epochs"));
}

TEST_F(OptionTableTest, AFileAsksForNothingByADefault) {
  resolve({"--use-bias", "true"}, R"({"optimizer": "lamb", "warmup": 7})");
  EXPECT_TRUE(table_.is_asked_for("use_bias")) << "the command line does";
  EXPECT_FALSE(table_.is_asked_for("optimizer"));
  EXPECT_TRUE(table_.is_asked_for("warmup"));
}

TEST(OptionUse, AListThatTheCommandLineTakesAwayIsNotAskedFor) {
  OptionTable table;
  std::vector<double> triggers;
  table.add("triggers", &triggers, "");
  resolve_words(table, {"--triggers", ""});
  EXPECT_EQ(table.origin("triggers"), kCommandLineOrigin);
  EXPECT_FALSE(table.is_asked_for("triggers"));
}

TEST(OptionUse, WhatHasNoEffectIsNotedAndWhatIsMisplacedRefused) {
  OptionTable table;
  int64_t steps = 1, stride = 2;
  table.add("steps", &steps, "", {.idle = [] { return "without data"; }});
  table.add("stride", &stride, "", {.misplaced = [] { return "needs input_file"; }});
  EXPECT_EQ(table.check_use(), std::vector<std::string>()) << "nobody asked for them";
  steps = 3;
  EXPECT_EQ(table.check_use(), std::vector<std::string>{"`steps` has no effect without data"});
  stride = 8;
  try {
    table.check_use();
    ADD_FAILURE() << "accepted";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "`stride` needs input_file");
  }
}

}  // namespace
}  // namespace cloze::cli

// `cloze pretrain --restore-dir` and --config training_config.json from end to end, on generated
// data and records made on the spot.
#include "cli/run/resumed_options.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cli/options/subcommand.h"
#include "cli/run/pretrain_options.h"
#include "cli/run/resolved_run.h"
#include "cli/run_command_test.h"
#include "cli/training/small_run_test.h"
#include "data/token_store/token_store.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"
#include "train/saving/manifest.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class ResumedOptions : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  struct Result : CommandResult {
    bool says(const std::string& text) const { return error.find(text) != std::string::npos; }
  };

  static Result pretrain(const Words& options) {
    Words words{"pretrain"};
    words.insert(words.end(), options.begin(), options.end());
    return {run_command(words)};
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  // A new run of two steps, with `data` and whatever else is given.
  Result start(const std::string& name, const Words& data) const {
    Words words = small_pretraining_words(path(name));
    words.insert(words.end(),
                 {"--base-learning-rate=0.01", "--weight-decay-rate=0.1", "--max-grad-norm=0.5"});
    words.insert(words.end(), data.begin(), data.end());
    return pretrain(words);
  }

  formats::Json config(const std::string& checkpoint) const {
    return formats::read_json_file(folder_ / checkpoint / "training_config.json");
  }

  std::string weights(const std::string& checkpoint) const {
    return platform::read_file(folder_ / checkpoint / "model.safetensors");
  }

  // The options of a text, which becomes the token store path("store").
  Words text_of_a_moment() const {
    const char* vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\n.\n";
    platform::write_file_atomically(path("vocab.txt"), vocabulary);
    std::string text;
    for (int i = 0; i < 40; ++i) text += "{\"text\": \"a b a. b b a. a a b b.\"}\n";
    platform::write_file_atomically(path("text.jsonl"), text);
    return {"--input-file=" + path("text.jsonl"), "--input-format=jsonl",
            "--token-store=" + path("store"), "--vocab-file=" + path("vocab.txt")};
  }

  // Of each line of the run's metrics.
  std::vector<double> rates(const std::string& run) const {
    std::vector<double> rates;
    std::ifstream lines(path(run + "/metrics.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      const auto metrics = formats::Json::parse(line);
      if (metrics.contains("step")) rates.push_back(metrics.at("learning_rate").get<double>());
    }
    return rates;
  }

  std::string write_records(const std::string& name, uint64_t seed) const {
    write_small_records(folder_ / name, seed);
    return path(name);
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / "cloze_resumed_options_test";
};

const Words kGenerated = {"--generated-data"};

TEST_F(ResumedOptions, WhatIsNotGivenIsAsItWas) {
  ASSERT_EQ(start("run", kGenerated).status, ExitCode::kSuccess);
  const Result resumed = pretrain({"--restore-dir", path("run"), "--num-train-steps", "4"});
  ASSERT_EQ(resumed.status, ExitCode::kSuccess) << resumed.error;
  EXPECT_TRUE(resumed.says("note: from here on --num-train-steps 4 (was 2)\n")) << resumed.error;
  auto before = config("run/checkpoint-2"), after = config("run/checkpoint-4");
  EXPECT_EQ(after.at("base_learning_rate"), 0.01);
  EXPECT_EQ(after.at("max_grad_norm"), 0.5);
  for (auto* one : {&before, &after}) {
    one->erase("num_train_steps");
    one->erase("restore_dir");
  }
  EXPECT_EQ(after, before);
}

TEST_F(ResumedOptions, TheirOriginIsPrintedWithoutARun) {
  ASSERT_EQ(start("run", kGenerated).status, ExitCode::kSuccess);
  const CommandResult printed = run_command(
      {"config", "print", "pretrain", "--restore-dir", path("run"), "--num-train-steps", "4"});
  ASSERT_EQ(printed.status, ExitCode::kSuccess) << printed.error;
  const std::string file = path("run/checkpoint-2/training_config.json");
  EXPECT_NE(printed.out.find("base_learning_rate 0.01  (" + file + ")\n"), std::string::npos)
      << printed.out;
  EXPECT_NE(printed.out.find("num_train_steps 4  (command line)\n"), std::string::npos);
}

// To see whether a checkpoint is whole, all of it is read: that happens once.
TEST_F(ResumedOptions, TheCheckpointThatWasFoundIsTheOneToGoOnFrom) {
  ASSERT_EQ(start("run", kGenerated).status, ExitCode::kSuccess);
  PretrainOptions options;
  OptionTable table;
  add_pretrain_options(table, options);
  options.training.restore_dir = path("run");
  take_options_of_run(table, options);
  const train::TrainingOptions run = training_of(ResolvedRun(options), 3);
  ASSERT_TRUE(run.restore_from);
  EXPECT_EQ(run.restore_from->path, folder_ / "run" / "checkpoint-2");
}

// Whose options and vocabulary have then no part in the run.
TEST_F(ResumedOptions, StartWeightsOfTheCommandLineReplaceTheRunOfAFile) {
  ASSERT_EQ(start("run", kGenerated).status, ExitCode::kSuccess);
  platform::write_file_atomically(path("file.json"),
                                  R"({"restore_dir": ")" + path("run") + R"("})");
  PretrainOptions options;
  OptionTable table;
  add_pretrain_options(table, options);
  resolve_words(table,
                {"--config", path("file.json"), "--init-checkpoint", path("run/checkpoint-2")});
  take_options_of_run(table, options);
  EXPECT_EQ(options.training.restore_dir, "");
  EXPECT_FALSE(options.training.restore_from);
  EXPECT_EQ(table.origin("base_learning_rate"), kDefaultOrigin);
}

TEST_F(ResumedOptions, ALongerNumberOfSequencesHasALongerSchedule) {
  Words words = small_pretraining_words(path("run"));
  std::erase(words, "--num-train-steps=2");
  words.insert(words.end(),
               {"--generated-data", "--max-training-sequences=8", "--base-learning-rate=0.01",
                "--lr-schedule=linear", "--steps-per-logs=1"});
  ASSERT_EQ(pretrain(words).status, ExitCode::kSuccess);
  const Result resumed = pretrain({"--restore-dir", path("run"), "--max-training-sequences=16"});
  ASSERT_EQ(resumed.status, ExitCode::kSuccess) << resumed.error;
  // Of four steps, as in a run that was to have that many from the start.
  std::erase(words, "--max-training-sequences=8");
  std::erase(words, "--save-path=" + path("run"));
  words.insert(words.end(), {"--num-train-steps=4", "--save-path=" + path("long")});
  ASSERT_EQ(pretrain(words).status, ExitCode::kSuccess);
  EXPECT_EQ(rates("run").size(), 4u);
  EXPECT_EQ(rates("run").back(), rates("long").back());
}

TEST_F(ResumedOptions, WhatChangesIsSaid) {
  ASSERT_EQ(start("run", kGenerated).status, ExitCode::kSuccess);
  const Result resumed =
      pretrain({"--restore-dir", path("run"), "--num-train-steps=3", "--base-learning-rate=0.02",
                "--precision=bf16", "--save-path", path("other")});
  ASSERT_EQ(resumed.status, ExitCode::kSuccess) << resumed.error;
  EXPECT_TRUE(resumed.says("--base-learning-rate 0.02 (was 0.01)")) << resumed.error;
  EXPECT_TRUE(resumed.says("--precision \"bf16\" (was \"f32\")")) << resumed.error;
  EXPECT_FALSE(resumed.says("weight_decay_rate")) << resumed.error;
  EXPECT_EQ(config("other/checkpoint-3").at("weight_decay_rate"), 0.1);
}

TEST_F(ResumedOptions, WhatMustNotChangeIsRefusedByName) {
  ASSERT_EQ(start("run", kGenerated).status, ExitCode::kSuccess);
  const Result other = pretrain({"--restore-dir", path("run"), "--num-train-steps=3",
                                 "--micro-batch-size=8", "--save-path", path("other")});
  EXPECT_EQ(other.status, ExitCode::kUsage);
  EXPECT_TRUE(
      other.says("was made with --global-batch-size 4, this run has 8; resume with the same"))
      << other.error;
  EXPECT_FALSE(fs::exists(path("other")));
}

TEST_F(ResumedOptions, OtherRecordsOfTheSameCountAreRefused) {
  const std::string records = write_records("a.tfrecord", 1);
  const std::string other = write_records("b.tfrecord", 2);
  ASSERT_EQ(start("run", {"--train-file", records}).status, ExitCode::kSuccess);
  const Result refused =
      pretrain({"--restore-dir", path("run"), "--num-train-steps=3", "--train-file", other});
  EXPECT_EQ(refused.status, ExitCode::kUsage);
  EXPECT_TRUE(refused.says("was made with data \"20 records ")) << refused.error;
  fs::rename(records, path("moved.tfrecord"));
  const Result moved = pretrain({"--restore-dir", path("run"), "--num-train-steps=3",
                                 "--train-file", path("moved.tfrecord")});
  EXPECT_EQ(moved.status, ExitCode::kSuccess) << moved.error;
}

TEST_F(ResumedOptions, AnotherLengthGoesBeforeThatOfTheRun) {
  const std::string records = write_records("a.tfrecord", 1);
  ASSERT_EQ(start("run", {"--train-file", records}).status, ExitCode::kSuccess);
  const Result resumed = pretrain({"--restore-dir", path("run"), "--epochs=1"});
  EXPECT_EQ(resumed.status, ExitCode::kSuccess) << resumed.error;
  EXPECT_TRUE(fs::exists(path("run/checkpoint-5"))) << "20 samples by 4 a step";
}

TEST_F(ResumedOptions, AFolderWithoutCheckpointIsRefusedAndNothingMade) {
  const Result refused =
      pretrain({"--restore-dir", folder_.string(), "--save-path", path("new/run")});
  EXPECT_EQ(refused.status, ExitCode::kUsage);
  EXPECT_TRUE(refused.says("holds no checkpoint")) << refused.error;
  EXPECT_FALSE(fs::exists(path("new")));
}

// Those of versions that kept neither the identity nor the options.
TEST_F(ResumedOptions, ACheckpointThatSaysLessResumesWithAWord) {
  ASSERT_EQ(start("run", kGenerated).status, ExitCode::kSuccess);
  const fs::path checkpoint = folder_ / "run" / "checkpoint-2";
  auto state = formats::read_json_file(checkpoint / "state.json");
  state["version"] = 1;
  state.erase("identity");
  platform::write_file_atomically(checkpoint / "state.json", formats::json_text(state));
  fs::remove(checkpoint / train::kManifestName);
  train::write_manifest(checkpoint, 2);
  const Result resumed = pretrain({"--restore-dir", path("run"), "--num-train-steps=3"});
  EXPECT_EQ(resumed.status, ExitCode::kSuccess) << resumed.error;
  EXPECT_TRUE(resumed.says("does not say what it was made with")) << resumed.error;
  EXPECT_TRUE(fs::exists(path("run/checkpoint-3")));
}

TEST_F(ResumedOptions, TheStoredConfigurationGivesTheRunAgain) {
  const std::string records = write_records("a.tfrecord", 1);
  for (const Words& data : {kGenerated, Words{"--train-file", records}}) {
    fs::remove_all(path("run"));
    ASSERT_EQ(start("run", data).status, ExitCode::kSuccess);
    const Result again = pretrain(
        {"--config", path("run/checkpoint-2/training_config.json"), "--save-path", path("again")});
    ASSERT_EQ(again.status, ExitCode::kSuccess) << again.error;
    EXPECT_EQ(weights("again/checkpoint-2"), weights("run/checkpoint-2"));
    fs::remove_all(path("again"));
  }
}

// In the folder of the run it branches from, its checkpoints would look older than those of later
// steps.
TEST_F(ResumedOptions, GoingBackNeedsAFolderOfItsOwn) {
  ASSERT_EQ(start("run", {"--generated-data", "--steps-per-ckpts=1"}).status, ExitCode::kSuccess);
  const std::string back = "--restore-dir=" + path("run/checkpoint-1");
  Result result = pretrain({back});
  EXPECT_EQ(result.status, ExitCode::kUsage);
  EXPECT_TRUE(result.says(path("run/checkpoint-2") + " is there, and a run that resumes from"))
      << result.error;
  const std::string elsewhere = "--save-path=" + path("other");
  result = pretrain({back, elsewhere});
  EXPECT_EQ(result.status, ExitCode::kSuccess) << result.error;
  EXPECT_EQ(pretrain({back, elsewhere}).status, ExitCode::kUsage) << "it holds a run now";
  EXPECT_EQ(pretrain({"--restore-dir=" + path("other"), "--num-train-steps=3"}).status,
            ExitCode::kSuccess);
  platform::write_file_atomically(path("run/checkpoint-2/model.safetensors"), "damaged");
  result = pretrain({back});
  EXPECT_EQ(result.status, ExitCode::kSuccess) << result.error;
}

// The same command, with --restore-dir in place of --save-path.
TEST_F(ResumedOptions, ASavePathOfTheFileIsNotThatOfTheRun) {
  platform::write_file_atomically(path("run.json"),
                                  R"({"save_path": ")" + path("elsewhere") + R"("})");
  const std::string file = "--config=" + path("run.json");
  ASSERT_EQ(start("run", {"--generated-data", file}).status, ExitCode::kSuccess);
  const std::string run = "--restore-dir=" + path("run");
  Result result = pretrain({file, run, "--num-train-steps=3"});
  EXPECT_EQ(result.status, ExitCode::kSuccess) << result.error;
  EXPECT_TRUE(result.says("note: checkpoints go into " + path("run") +
                          ", and not into the save_path " + path("elsewhere")))
      << result.error;
  EXPECT_TRUE(fs::exists(path("run/checkpoint-3")));
  EXPECT_FALSE(fs::exists(path("elsewhere")));
  result = pretrain({file, run, "--num-train-steps=4", "--save-path=" + path("other")});
  EXPECT_EQ(result.status, ExitCode::kSuccess) << result.error;
  EXPECT_TRUE(fs::exists(path("other/checkpoint-4")));
}

TEST_F(ResumedOptions, AFileMayNameBothFolders) {
  ASSERT_EQ(start("run", kGenerated).status, ExitCode::kSuccess);
  const formats::Json both = {{"save_path", path("other")}, {"restore_dir", path("run")}};
  platform::write_file_atomically(path("both.json"), both.dump());
  const Result result = pretrain({"--config=" + path("both.json"), "--num-train-steps=3"});
  EXPECT_EQ(result.status, ExitCode::kSuccess) << result.error;
  EXPECT_TRUE(fs::exists(path("other/checkpoint-3")));
}

// The file that a run began with may be given again.
TEST_F(ResumedOptions, AStartOfTheFileIsNotNeededAnyMore) {
  ASSERT_EQ(start("run", kGenerated).status, ExitCode::kSuccess);
  platform::write_file_atomically(path("start.json"),
                                  R"({"init_checkpoint": "bert", "init_optimizer": "moments"})");
  const Words again = {"--config=" + path("start.json"), "--restore-dir=" + path("run"),
                       "--num-train-steps=3"};
  const Result result = pretrain(again);
  EXPECT_EQ(result.status, ExitCode::kSuccess) << result.error;
  Words asked = again;
  asked.push_back("--init-optimizer=moments_and_step");
  EXPECT_EQ(pretrain(asked).status, ExitCode::kUsage);
}

// A run that began with text goes on with the store that was made of it.
TEST_F(ResumedOptions, OptionsOfTheTextGoWithIt) {
  Result result = start("run", text_of_a_moment());
  ASSERT_EQ(result.status, ExitCode::kSuccess) << result.error;
  const std::string store = "--train-file=" + path("store");
  result = pretrain({"--restore-dir=" + path("run"), store, "--num-train-steps=3"});
  EXPECT_EQ(result.status, ExitCode::kSuccess) << result.error;
  result = start("other", {store, "--input-format=jsonl"});
  EXPECT_EQ(result.status, ExitCode::kUsage);
  EXPECT_TRUE(result.says("--input-format needs --input-file, which is not given")) << result.error;
  result = start("other", {store, "--do-lower-case=false"});
  EXPECT_EQ(result.status, ExitCode::kUsage);
  EXPECT_TRUE(result.says("--do-lower-case is false, but the token store")) << result.error;
  result = start("other", {store, "--skip-bad"});
  EXPECT_EQ(result.status, ExitCode::kSuccess) << result.error;
  EXPECT_TRUE(result.says(
      "--skip-bad has no effect with samples that are drawn from text: it is for records"))
      << result.error;
  result = start("other", {store, "--type-vocab-size=1"});
  EXPECT_EQ(result.status, ExitCode::kUsage);
  EXPECT_TRUE(result.says("--type-vocab-size is 1, but the sentences of a pair")) << result.error;
  result = start("single", {store, "--type-vocab-size=1", "--next-sentence=none"});
  EXPECT_EQ(result.status, ExitCode::kSuccess) << result.error;
}

// Its sentences would be split otherwise today, which would be other data.
TEST_F(ResumedOptions, AStoreOfAnEarlierVersionIsKept) {
  Result result = start("run", text_of_a_moment());
  ASSERT_EQ(result.status, ExitCode::kSuccess) << result.error;
  formats::Json manifest = formats::read_json_file(path("store/store.json"));
  EXPECT_EQ(manifest.at("splitter").get<int>(), data::kSplitterVersion);
  for (const char* name : {"splitter", "abbreviations", "sentence_openers", "has_ordinals"}) {
    manifest.erase(name);
  }
  const std::string old = manifest.dump();
  platform::write_file_atomically(path("store/store.json"), old);
  result = pretrain({"--restore-dir=" + path("run"), "--num-train-steps=3"});
  EXPECT_EQ(result.status, ExitCode::kSuccess) << result.error;
  EXPECT_TRUE(
      result.says("note: --input-file is not read again: an earlier version made the tokens in " +
                  path("store") + ", and split sentences otherwise\n"))
      << result.error;
  EXPECT_EQ(platform::read_file(path("store/store.json")), old);
}

TEST_F(ResumedOptions, ARunPastItsEndHasNothingToDo) {
  ASSERT_EQ(start("run", kGenerated).status, ExitCode::kSuccess);
  Result resumed = pretrain({"--restore-dir=" + path("run")});
  EXPECT_EQ(resumed.status, ExitCode::kSuccess);
  EXPECT_TRUE(
      resumed.says("nothing to do: 2 of 2 steps are done; raise --num-train-steps to train "
                   "longer\n"))
      << resumed.error;
  resumed = pretrain({"--restore-dir=" + path("run"), "--num-train-steps=1"});
  EXPECT_TRUE(resumed.says("nothing to do: 2 of 1 steps are done; ")) << resumed.error;
  resumed = pretrain({"--restore-dir=" + path("run"), "--num-train-steps=3"});
  EXPECT_FALSE(resumed.says("nothing to do")) << resumed.error;
}

TEST_F(ResumedOptions, TheTokensServeWhereTheTextIsGone) {
  ASSERT_EQ(start("run", text_of_a_moment()).status, ExitCode::kSuccess);
  fs::remove(path("text.jsonl"));
  fs::remove(path("vocab.txt"));
  Result resumed = pretrain({"--restore-dir=" + path("run"), "--num-train-steps=3"});
  EXPECT_EQ(resumed.status, ExitCode::kSuccess) << resumed.error;
  EXPECT_TRUE(resumed.says("note: the text " + path("text.jsonl") + " is gone: " + path("store") +
                           " has its tokens\n"))
      << resumed.error;
  EXPECT_TRUE(resumed.says("note: --vocab-file " + path("vocab.txt") + " is gone; " +
                           path("run/checkpoint-2") + " has the same tokens\n"))
      << resumed.error;
  resumed = pretrain({"--restore-dir=" + path("run"), "--num-train-steps=4"});
  EXPECT_EQ(resumed.status, ExitCode::kSuccess) << "the run no longer names the vocabulary";
}

TEST_F(ResumedOptions, TheTextServesWhereItsTokensAreGone) {
  ASSERT_EQ(start("run", text_of_a_moment()).status, ExitCode::kSuccess);
  fs::remove_all(path("store"));
  fs::remove(path("vocab.txt"));
  const Result resumed = pretrain({"--restore-dir=" + path("run"), "--num-train-steps=3"});
  EXPECT_EQ(resumed.status, ExitCode::kSuccess) << resumed.error;
  EXPECT_TRUE(fs::exists(path("store/store.json")));
}

TEST_F(ResumedOptions, WithoutTextAndTokensItSaysWhichCommandWorks) {
  Words text = text_of_a_moment();
  std::erase(text, "--token-store=" + path("store"));
  ASSERT_EQ(start("run", text).status, ExitCode::kSuccess);
  fs::rename(path("text.jsonl"), path("moved.jsonl"));
  const Words resume = {"--restore-dir=" + path("run"), "--num-train-steps=3"};
  const auto resumed_with = [&](const std::string& more) {
    Words words = resume;
    words.push_back(more);
    return pretrain(words);
  };
  Result resumed = resumed_with("--save-path=" + path("other"));
  EXPECT_EQ(resumed.status, ExitCode::kUsage);
  EXPECT_TRUE(resumed.says("the text " + path("text.jsonl") + " is gone, but " +
                           path("run/tokens") + " has its tokens; add --train-file " +
                           path("run/tokens")))
      << resumed.error;
  fs::rename(path("run/tokens"), path("elsewhere"));
  resumed = pretrain(resume);
  EXPECT_EQ(resumed.status, ExitCode::kUsage);
  EXPECT_TRUE(resumed.says(path("run/checkpoint-2") + " was trained on the text " +
                           path("text.jsonl") + ", which is gone, and so are its tokens, " +
                           path("run/tokens") +
                           "; bring one of them back, or say where the text is now: --input-file "
                           "FILE"))
      << resumed.error;
  resumed = resumed_with("--input-file=" + path("moved.jsonl"));
  EXPECT_EQ(resumed.status, ExitCode::kSuccess) << resumed.error;
}

// Options of records and of drawing are read where the evaluation set is of that form alone.
TEST_F(ResumedOptions, AnEvaluationSetHasItsOwnForm) {
  Result result = start("made", text_of_a_moment());
  ASSERT_EQ(result.status, ExitCode::kSuccess) << result.error;
  const std::string evaluated = "--on-the-spot-validation-files=";
  result = start("drawn", {"--generated-data", evaluated + path("store"), "--mlm-prob=0.2"});
  EXPECT_EQ(result.status, ExitCode::kSuccess) << result.error;
  result = start("recorded",
                 {"--generated-data", evaluated + write_records("a.tfrecord", 1), "--skip-bad"});
  EXPECT_EQ(result.status, ExitCode::kSuccess) << result.error;
  EXPECT_FALSE(result.says("--skip-bad has no effect")) << result.error;
}

TEST_F(ResumedOptions, MadeDataOutrankTheTextOfAFile) {
  platform::write_file_atomically(
      path("text.json"), R"({"input_file": "a", "token_store": "b", "profile": "google"})");
  const Result result = start("run", {"--config=" + path("text.json"), "--generated-data"});
  EXPECT_EQ(result.status, ExitCode::kSuccess) << result.error;
}

TEST_F(ResumedOptions, AnOptionOfTextIsStillRefusedForRecords) {
  const Result refused = start("run", {"--generated-data", "--mlm-prob=0.15"});
  EXPECT_EQ(refused.status, ExitCode::kUsage);
  EXPECT_TRUE(refused.says("--mlm-prob is set, but the samples of --generated-data"))
      << refused.error;
}

TEST_F(ResumedOptions, AnOptionOfLoadingIsRefusedForSyntheticData) {
  const Result refused = start("run", {"--synthetic-data", "--loader-threads=2"});
  EXPECT_EQ(refused.status, ExitCode::kUsage);
  EXPECT_TRUE(refused.says("--loader-threads is set, but --synthetic-data loads nothing"))
      << refused.error;
  const Result noted = start("run", {"--synthetic-data", "--static-mask"});
  EXPECT_EQ(noted.status, ExitCode::kSuccess) << noted.error;
  EXPECT_TRUE(noted.says("--static-mask has no effect with --synthetic-data: it is for records\n"))
      << noted.error;
}

TEST_F(ResumedOptions, ARunFolderIsAStart) {
  ASSERT_EQ(start("run", {"--generated-data", "--steps-per-ckpts=1"}).status, ExitCode::kSuccess);
  Result next = start("next", {"--generated-data", "--init-checkpoint", path("run")});
  EXPECT_EQ(next.status, ExitCode::kSuccess) << next.error;
  EXPECT_TRUE(next.says("initial values from " + path("run/checkpoint-2/model.safetensors")))
      << next.error;
  platform::write_file_atomically(path("run/checkpoint-2/model.safetensors"), "damaged");
  next = start("older", {"--generated-data", "--init-checkpoint", path("run")});
  EXPECT_EQ(next.status, ExitCode::kSuccess) << next.error;
  EXPECT_TRUE(next.says("initial values from " + path("run/checkpoint-1/model.safetensors")))
      << next.error;
  EXPECT_TRUE(next.says("note: skipped checkpoint-2: ")) << next.error;
}

}  // namespace
}  // namespace cloze::cli

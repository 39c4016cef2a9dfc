// Interrupted and resumed, a run goes on with the same bytes; and what must not be resumed is
// refused.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/bfloat16.h"
#include "base/error.h"
#include "data/generated_dataset.h"
#include "engine/change_values_test.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"
#include "small_run.h"
#include "train/saving/manifest.h"
#include "train/training.h"

namespace cloze::tests {
namespace {

namespace fs = std::filesystem;

class Resume : public testing::TestWithParam<DType> {
 protected:
  void SetUp() override { fs::remove_all(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  train::TrainingOptions options(const std::string& name, int64_t num_steps) const {
    train::TrainingOptions run = small_run(GetParam(), num_steps, folder_ / name);
    run.step.model.use_qkv_bias = false;
    run.step.model.use_prediction_bias = false;
    run.step.optimizer = {.weight_decay_rate = 0.01};
    run.steps_per_checkpoint = 6;
    return run;
  }

  std::string weights(const std::string& name, int64_t step) const {
    const fs::path checkpoint = folder_ / name / ("checkpoint-" + std::to_string(step));
    return platform::read_file(checkpoint / "model.safetensors") +
           platform::read_file(checkpoint / "optimizer.safetensors");
  }

  static std::string refusal_of(const train::TrainingOptions& options) {
    try {
      train::Training training(options, ignore);
    } catch (const UserError& error) {
      return error.what();
    }
    return "accepted";
  }

  static void ignore(const std::string&) {}
  const fs::path folder_ = fs::path(testing::TempDir()) / "cloze_resume_test";
};

TEST_P(Resume, SameBytesAsAnUninterruptedRun) {
  train::Training(options("whole", 12), ignore).run({});

  train::Training(options("halves", 6), ignore).run({});
  train::TrainingOptions second = options("halves", 12);
  second.restore_dir = second.save_path;
  train::Training resumed(second, ignore);
  EXPECT_EQ(resumed.first_step(), 6);
  resumed.run({});

  EXPECT_EQ(weights("halves", 6), weights("whole", 6));
  EXPECT_EQ(weights("halves", 12), weights("whole", 12));
  EXPECT_NE(weights("whole", 12), weights("whole", 6));
}

train::TrainingOptions with_half_state(train::TrainingOptions options) {
  const DType dtype = options.step.compute_dtype;
  options.step.optimizer.first_moment = dtype == DType::kF32 ? DType::kBF16 : dtype;
  options.step.optimizer.has_bf16_weights = true;
  return options;
}

TEST_P(Resume, HalfMomentsAndRoundedWeightsGiveTheSameBytesToo) {
  train::Training(with_half_state(options("whole", 12)), ignore).run({});
  for (const int64_t stop : {1, 5, 12}) {
    train::TrainingOptions part = with_half_state(options("parts", stop));
    if (fs::exists(part.save_path)) part.restore_dir = part.save_path;
    train::Training(part, ignore).run({});
  }
  EXPECT_EQ(weights("parts", 12), weights("whole", 12));

  train::TrainingOptions last = with_half_state(options("parts", 12));
  last.restore_dir = last.save_path;
  train::Training training(last, ignore);
  const engine::Session& session = training.session();
  for (const graph::Value value : session.graph().variables(graph::VariableRole::kParameter)) {
    const std::string& name = session.graph().info(value).name;
    for (const float weight : training.session().read<float>(name)) {
      EXPECT_EQ(static_cast<float>(bfloat16(weight)), weight) << name;
    }
  }
}

TEST_P(Resume, AMomentOfAnotherTypeIsRefused) {
  train::Training(options("run", 6), ignore).run({});
  train::TrainingOptions other = options("run", 12);
  other.restore_dir = other.save_path;
  other.step.optimizer.first_moment = DType::kF16;
  EXPECT_NE(refusal_of(other).find(
                "in f32, but this run keeps it in f16; resume with first_moment_precision f32"),
            std::string::npos)
      << refusal_of(other);
}

// Whatever is saved while training goes on: the weights are the same, and so is what is saved.
TEST_P(Resume, SavingChangesNothing) {
  train::TrainingOptions rarely = options("rarely", 12);
  rarely.steps_per_checkpoint = 100;
  train::Training(rarely, ignore).run({});
  train::TrainingOptions often = options("often", 12);
  often.steps_per_checkpoint = 1;
  often.max_to_keep = 0;
  train::Training(often, ignore).run({});
  EXPECT_EQ(train::checkpoint_steps(folder_ / "often").size(), 12u);
  EXPECT_EQ(weights("often", 12), weights("rarely", 12));
  train::Training(options("short", 5), ignore).run({});
  EXPECT_EQ(weights("often", 5), weights("short", 5));
}

// Each is announced once, in order, when it is on the disk.
TEST_P(Resume, SavesAreAnnouncedOnceTheyAreDone) {
  train::TrainingOptions run = options("run", 12);
  run.steps_per_checkpoint = 5;
  std::vector<std::string> saved;
  train::Training(run, [&](const std::string& line) {
    saved.push_back(line);
    EXPECT_EQ(train::find_damage(line.substr(line.find('/'))), std::nullopt) << line;
  }).run({});
  std::vector<std::string> expected;
  for (const int step : {5, 10, 12}) {
    expected.push_back("saved " +
                       (run.save_path / ("checkpoint-" + std::to_string(step))).string());
  }
  EXPECT_EQ(saved, expected);
}

TEST_P(Resume, AFailedSaveEndsTheRunAndSaysWhy) {
  train::Training(options("run", 6), ignore).run({});
  train::TrainingOptions second = options("run", 100);
  second.restore_dir = second.save_path;
  second.extra_files = {{"model.safetensors/file", "text"}};  // a file is no folder
  train::Training resumed(second, ignore);
  try {
    resumed.run({});
    FAIL() << "no error";
  } catch (const EnvironmentError& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find("cannot save " + (second.save_path / "checkpoint-12").string()), 0u);
    EXPECT_NE(text.find("older checkpoints are untouched"), std::string::npos) << text;
  }
  EXPECT_GE(resumed.state().step, 12);
  EXPECT_LE(resumed.state().step, 18) << "the next save waits for the one before";
  EXPECT_EQ(train::checkpoint_steps(second.save_path), std::vector<int64_t>{6});
}

// When scores rise and fall, the checkpoint with the best is kept beside the newest.
TEST_P(Resume, TheBestCheckpointIsKept) {
  const std::vector<double> scores = {0.2, 0.7, 0.5, 0.7};
  train::TrainingOptions run = options("run", 12);
  run.max_to_keep = 1;
  run.evaluation_steps = {3, 6, 9};
  std::vector<int64_t> evaluated;
  run.evaluate = [&](engine::Session&, int64_t step) {
    evaluated.push_back(step);
    return scores[static_cast<size_t>(step / 3 - 1)];
  };
  train::Training training(run, ignore);
  training.run({});
  EXPECT_EQ(evaluated, (std::vector<int64_t>{3, 6, 9, 12}));
  EXPECT_EQ(training.state().best_metric, 0.7);
  EXPECT_EQ(training.state().best_step, 6) << "the first of equal ones";
  EXPECT_EQ(train::checkpoint_steps(run.save_path), (std::vector<int64_t>{12, 6}));
  const auto saved =
      train::read_training_state(run.save_path / "checkpoint-12" / train::kStateName);
  EXPECT_EQ(saved, training.state());
}

// Neither from the start of the resumed run, nor after it goes back to a checkpoint that names it.
TEST_P(Resume, ADamagedBestIsNotTheBestAnyMore) {
  train::TrainingOptions run = options("run", 9);
  run.evaluation_steps = {3, 6};
  run.evaluate = [](engine::Session&, int64_t step) { return step == 3 ? 0.7 : 0.2; };
  train::Training(run, ignore).run({});
  platform::write_file_atomically(run.save_path / "checkpoint-3" / "model.safetensors", "x");
  run.restore_dir = run.save_path;
  run.num_steps = 12;
  run.watch.on_non_finite = train::WatchPolicy::kRollBack;
  train::Training resumed(run, ignore);
  EXPECT_FALSE(resumed.state().best_metric);
  engine::change_values<float>(resumed.session(), "optimizer.v.bert.pooler.dense.bias",
                               [](std::span<float> values) { values[0] = INFINITY; });
  resumed.run({});
  EXPECT_EQ(resumed.state().best_metric, 0.2);
  EXPECT_EQ(resumed.state().best_step, 12);
}

// The resumed run begins with the evaluation that a signal cut off.
TEST_P(Resume, AnEvaluationThatWasStoppedIsRepeated) {
  train::TrainingOptions run = options("run", 6);
  run.evaluate = [](engine::Session&, int64_t) { return std::nullopt; };
  train::Training(run, ignore).run({});
  run.restore_dir = run.save_path;
  std::vector<int64_t> evaluated;
  run.evaluate = [&](engine::Session&, int64_t step) {
    evaluated.push_back(step);
    return 0.5;
  };
  for (int i = 0; i < 2; ++i) {
    train::Training resumed(run, ignore);
    resumed.run({});
    EXPECT_EQ(evaluated, std::vector<int64_t>{6});
    EXPECT_EQ(resumed.state().best_step, 6);
  }
}

TEST_P(Resume, AnotherBatchIsRefused) {
  train::Training(options("run", 6), ignore).run({});
  train::TrainingOptions other = options("run", 12);
  other.restore_dir = other.save_path;
  other.global_batch_size = 4;
  const std::string checkpoint = (other.save_path / "checkpoint-6").string();
  EXPECT_EQ(refusal_of(other),
            checkpoint +
                " was made with global_batch_size 8, this run has 4; resume with the "
                "same, or start a new run with --init-checkpoint " +
                checkpoint);
}

TEST_P(Resume, AFailedStartLeavesNoFolder) {
  train::Training(options("run", 6), ignore).run({});
  train::TrainingOptions other = options("new/folder", 12);
  other.restore_dir = folder_ / "run";
  other.step.seed = 4;
  EXPECT_NE(refusal_of(other), "accepted");
  other.restore_dir.clear();
  other.init_checkpoint = folder_ / "nowhere";
  EXPECT_NE(refusal_of(other), "accepted");
  EXPECT_FALSE(fs::exists(folder_ / "new"));
}

TEST_P(Resume, OtherDataOfTheSameSizeIsRefused) {
  train::Training(options("run", 6), ignore).run({});
  train::TrainingOptions other = options("run", 12);
  other.restore_dir = other.save_path;
  other.dataset = std::make_shared<data::GeneratedDataset>(data::GeneratedOptions{
      .sequence_length = 12, .max_predictions = 3, .vocabulary_size = 61, .size = 50, .seed = 1});
  EXPECT_NE(refusal_of(other).find("was made with data \"50 generated samples S 12 M 3 V 61 seed "
                                   "0\", this run has \"50 generated samples S 12 M 3 V 61 seed "
                                   "1\""),
            std::string::npos)
      << refusal_of(other);
}

// As written by versions of cloze that stored no identity.
TEST_P(Resume, ACheckpointWithoutIdentityResumesWithAWord) {
  train::Training(options("run", 6), ignore).run({});
  const fs::path checkpoint = folder_ / "run" / "checkpoint-6";
  auto state = formats::read_json_file(checkpoint / train::kStateName);
  state["version"] = 1;
  state["config_hash"] = "abc";
  state.erase("identity");
  platform::write_file_atomically(checkpoint / train::kStateName, formats::json_text(state));
  fs::remove(checkpoint / train::kManifestName);
  train::write_manifest(checkpoint, 6);
  train::TrainingOptions second = options("run", 12);
  second.restore_dir = second.save_path;
  std::vector<std::string> notices;
  train::Training resumed(second, [&](const std::string& line) { notices.push_back(line); });
  EXPECT_EQ(resumed.first_step(), 6);
  EXPECT_EQ(notices.front(), checkpoint.string() +
                                 " does not say what it was made with: it is not known whether "
                                 "batch, seed and data are the same");
  resumed.run({});
  EXPECT_EQ(train::read_training_state(folder_ / "run" / "checkpoint-12" / train::kStateName)
                .identity.at("seed"),
            3);
}

TEST_P(Resume, ANewRunDoesNotMixWithAnOldOne) {
  train::Training(options("run", 6), ignore).run({});
  EXPECT_THROW(train::Training(options("run", 6), ignore), UserError);
}

TEST_P(Resume, PhaseTwoStartsFromPhaseOneWithLongerSequences) {
  train::Training(options("phase1", 6), ignore).run({});
  train::TrainingOptions phase2 = options("phase2", 2);
  phase2.init_checkpoint = folder_ / "phase1" / "checkpoint-6";
  std::vector<std::string> notices;
  train::Training run(phase2, [&](const std::string& line) { notices.push_back(line); });
  EXPECT_EQ(run.first_step(), 0);
  ASSERT_EQ(notices.size(), 1u);  // nothing missing, nothing unused
  EXPECT_NE(notices[0].find("checkpoint-6"), std::string::npos);
}

TEST_P(Resume, ACheckpointOfAnotherShapeNamesTensorAndShapes) {
  train::Training(options("run", 6), ignore).run({});
  train::TrainingOptions wider = options("wider", 6);
  wider.step.model.intermediate_size = 32;
  wider.init_checkpoint = folder_ / "run" / "checkpoint-6";
  try {
    train::Training(wider, ignore);
    FAIL();
  } catch (const UserError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(".dense.weight is [24, 16]"), std::string::npos) << message;
    EXPECT_NE(message.find("24"), std::string::npos) << message;
    EXPECT_NE(message.find("32"), std::string::npos) << message;
  }
}

// Kernels would read and write beyond the tables.
TEST_P(Resume, DataThatTheModelHasNoRowsForIsRefused) {
  const auto refusal = [&](int64_t models::BertConfig::*size) {
    train::TrainingOptions run = options("small", 1);
    run.step.model.*size = 1;
    try {
      train::Training(run, ignore).run({});
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string("trained");
  };
  EXPECT_EQ(refusal(&models::BertConfig::vocab_size).find("token id "), 0u);
  EXPECT_EQ(refusal(&models::BertConfig::type_vocab_size),
            "token type (type_vocab_size) 1; the model has 0 to 0");
  EXPECT_EQ(refusal(&models::BertConfig::max_position_embeddings),
            "position 1; the model has 0 to 0");
}

TEST_P(Resume, ADivergingRunStopsAndSaysWhere) {
  train::TrainingOptions run = options("diverging", 6);
  train::Training pretraining(run, ignore);
  engine::change_values<float>(
      pretraining.session(), "bert.pooler.dense.weight",
      [](std::span<float> values) { values[0] = std::numeric_limits<float>::quiet_NaN(); });
  EXPECT_THROW(pretraining.run({}), train::DivergenceError);
}

INSTANTIATE_TEST_SUITE_P(Dtypes, Resume, testing::Values(DType::kF32, DType::kBF16, DType::kF16),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace cloze::tests

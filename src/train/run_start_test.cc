// What a run reports about its start checkpoint, which is the same where ranks divide the states,
// and which start checkpoints it refuses.
#include <gtest/gtest.h>

#include "base/error.h"
#include "comm/loopback.h"
#include "formats/safetensors.h"
#include "platform/files/own_folder_test.h"
#include "train/small_training_test.h"

namespace cloze::train {
namespace {

namespace fs = std::filesystem;
using Notices = std::vector<std::string>;

class RunStart : public platform::OwnFolderTest {
 protected:
  Notices notices_of(TrainingOptions options, const fs::path& start) const {
    options.init_checkpoint = start;
    Notices notices;
    const Training training(options, [&](const std::string& line) { notices.push_back(line); });
    return notices;
  }
  static TrainingOptions small_group_bert(const fs::path& save_path) {
    TrainingOptions options = small_training(save_path);
    options.step.model.groupbert = true;
    options.step.model.groupbert_ffn_output_groups = 2;
    options.step.model.groupbert_conv_group_size = 2;
    return options;
  }
  static std::string refusal(const TrainingOptions& options) {
    try {
      const Training training(options, [](const std::string&) {});
    } catch (const UserError& error) {
      return error.what();
    }
    return "taken";
  }
  // Of the first of two ranks, each of which has a part of the states.
  Notices notices_of_ranks(const fs::path& start, InitOptimizer moments) const {
    Notices first;
    comm::run_loopback(2, [&](comm::Communicator& ranks) {
      const fs::path own = folder_ / ("rank-" + std::to_string(ranks.rank()));
      TrainingOptions options = small_training(own, ranks);
      options.step.shards_states = true;
      options.init_optimizer = moments;
      const Notices notices = notices_of(options, start);
      if (ranks.rank() == 0) first = notices;
    });
    return first;
  }

  // A checkpoint with other names for so many tensors.
  fs::path renamed(size_t count) const {
    Training training(small_training(folder_ / "start"), [](const std::string&) {});
    training.run({});
    const formats::SafetensorsFile file(checkpoint_path(folder_ / "start", 2) /
                                        "model.safetensors");
    std::vector<formats::TensorView> tensors = file.tensors();
    for (formats::TensorView& tensor : tensors) {
      if (count == 0 || !tensor.name.ends_with("LayerNorm.bias")) continue;
      tensor.name = "other." + std::to_string(--count);
    }
    const fs::path path = folder_ / "renamed.safetensors";
    formats::write_safetensors(path, tensors);
    return path;
  }
};

TEST_F(RunStart, RanksShareTheNamesOfTensorsThatDoNotMatch) {
  for (const size_t count : {1, 2, 3}) {
    const fs::path start = renamed(count);
    const Notices alone = notices_of(small_training(folder_ / "alone"), start);
    EXPECT_EQ(alone.at(1).find("  " + std::to_string(count) + " tensors are not in it"), 0u);
    EXPECT_EQ(alone.back().find("  " + std::to_string(count) + " of its tensors are not used"), 0u);
    EXPECT_EQ(notices_of_ranks(start, InitOptimizer::kFresh), alone) << count;
    fs::remove_all(folder_);
  }
}

TEST_F(RunStart, ARunOfTheOtherEncoderDoesNotGoOn) {
  Training(small_training(folder_ / "run"), [](const std::string&) {}).run({});
  TrainingOptions options = small_group_bert(folder_ / "other");
  options.restore_dir = folder_ / "run";
  EXPECT_NE(refusal(options).find("checkpoint-2 was made with groupbert false, this run has true; "
                                  "resume with the same"),
            std::string::npos)
      << refusal(options);
}

TEST_F(RunStart, WeightsOfTheOtherEncoderAreNoStart) {
  TrainingOptions options = small_group_bert(folder_ / "run");
  options.init_checkpoint =
      fs::path(CLOZE_SOURCE_DIR) / "tests/fixtures/tf_checkpoint/google/bert_model.ckpt";
  EXPECT_NE(refusal(options).find("the configuration of this run describes a GroupBERT, but "),
            std::string::npos)
      << refusal(options);
}

// A start model's values come before them.
TEST_F(RunStart, ParametersBeginWithFreshValues) {
  const std::string name = "cls.seq_relationship.bias";
  const std::vector<float> values{0.25f, -3.0f};
  TrainingOptions options = small_training(folder_ / "run");
  options.fresh_values = {{name, values}, {"another.model's", {1.0f}}};
  EXPECT_EQ(Training(options, [](const std::string&) {}).session().read<float>(name), values);
  options.init_checkpoint =
      fs::path(CLOZE_SOURCE_DIR) / "tests/fixtures/tf_checkpoint/google/bert_model.ckpt";
  EXPECT_NE(Training(options, [](const std::string&) {}).session().read<float>(name), values);
  options.fresh_prefix = "cls.seq_relationship.";
  EXPECT_EQ(Training(options, [](const std::string&) {}).session().read<float>(name), values);
}

TEST_F(RunStart, RanksCountTheMomentsOfAll) {
  const fs::path start =
      fs::path(CLOZE_SOURCE_DIR) / "tests/fixtures/tf_checkpoint/google/bert_model.ckpt";
  TrainingOptions options = small_training(folder_ / "alone");
  options.init_optimizer = InitOptimizer::kMoments;
  const Notices alone = notices_of(options, start);
  EXPECT_NE(alone.at(1).find(" moments of its optimiser"), std::string::npos) << alone.at(1);
  EXPECT_EQ(notices_of_ranks(start, InitOptimizer::kMoments), alone);
}

}  // namespace
}  // namespace cloze::train

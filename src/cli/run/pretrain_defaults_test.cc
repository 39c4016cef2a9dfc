// What a bare `cloze pretrain` takes: the values of configs/bert_base.json.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/options/shipped_files.h"
#include "cli/options/stored_options.h"
#include "cli/options/subcommand.h"
#include "cli/run/batch_plan.h"
#include "cli/run/pretrain_options.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"

namespace cloze::cli {
namespace {

TEST(PretrainDefaults, DefaultsAreThoseOfTheConfigurationOfBertBase) {
  PretrainOptions options;
  OptionTable table;
  add_pretrain_options(table, options);
  resolve_words(table, {});
  settle_rivals(options, table);
  const auto base =
      formats::parse_json(platform::read_file(shipped_folder().value() / "bert_base.json"));
  ASSERT_TRUE(base);
  const formats::Json values = table.values();
  for (const auto& [name, value] : base->items()) {
    if (name == "num_train_steps") continue;  // the length of a run is for its user to say
    EXPECT_EQ(values.at(name), value) << name;
  }
}

TEST(PretrainDefaults, ABatchThatNothingSetsIsThatOfBertBase) {
  const std::string theirs = testing::TempDir() + "of_another_system.json";
  platform::write_file_atomically(theirs, R"({"partials_type": "half", "seq_length": 64})");
  const auto sequences = [](const std::vector<std::string>& words) {
    PretrainOptions options;
    OptionTable table;
    add_pretrain_options(table, options);
    resolve_words(table, words);
    settle_rivals(options, table);
    return batch_plan(options).sequences_per_step;
  };
  EXPECT_EQ(sequences({}), 256);
  EXPECT_EQ(sequences({"--seq-length", "64"}), 256);
  EXPECT_EQ(sequences({"--global-batch-size", "48"}), 48);
  EXPECT_EQ(sequences({"--micro-batch-size", "8"}), 8);
  EXPECT_EQ(sequences({"--gradient-accumulation-count", "2"}), 64);
  EXPECT_EQ(sequences({"--replicas", "2"}), 64);
  EXPECT_EQ(sequences({"--config", theirs}), 32);
}

// Runs of versions whose defaults were others go on with those.
TEST(PretrainDefaults, AResumedRunKeepsTheDefaultsThatItBeganWith) {
  PretrainOptions options;
  OptionTable table;
  add_pretrain_options(table, options);
  resolve_words(table, {});
  const formats::Json values = {{"optimizer", "lamb"},        {"beta2", 0.999},
                                {"weight_decay_rate", 0.0},   {"use_debiasing", false},
                                {"base_learning_rate", 2e-5}, {"warmup", 0.1},
                                {"micro_batch_size", 32},     {"global_batch_size", nullptr},
                                {"steps_per_logs", 1}};
  formats::Json origins;
  for (const auto& [name, value] : values.items()) origins[name] = kDefaultOrigin;
  EXPECT_EQ(take_run(table, {"checkpoint/training_config.json", values, origins}),
            std::vector<std::string>());
  options.training.restore_from.emplace();
  settle_rivals(options, table);
  const formats::Json taken = table.values();
  for (const auto& [name, value] : values.items()) EXPECT_EQ(taken.at(name), value) << name;
  EXPECT_EQ(batch_plan(options).sequences_per_step, 32);
}

}  // namespace
}  // namespace cloze::cli

#include "train/run_identity.h"

#include <gtest/gtest.h>

#include "data/generated_dataset.h"
#include "formats/json.h"

namespace cloze::train {
namespace {

TrainingOptions options() {
  return {.step = {.model = {.vocab_size = 61}, .seed = 3},
          .dataset = std::make_shared<data::GeneratedDataset>(
              data::GeneratedOptions{.vocabulary_size = 61, .size = 50}),
          .global_batch_size = 8};
}

std::string differences(const formats::Json& stored, const formats::Json& current) {
  return formats::value_differences(stored, current, "this run has");
}

TEST(RunIdentityTest, NamesWhatDiffersWithBothValues) {
  TrainingOptions other = options();
  other.step.model.hidden_dropout_prob = 0.2;
  other.step.optimizer.name = "adamw";
  other.step.seed = 5;
  EXPECT_EQ(
      differences(run_identity(options()), run_identity(other)),
      "hidden_dropout_prob 0.1, this run has 0.2; optimizer \"lamb\", this run has \"adamw\"; "
      "seed 3, this run has 5");
}

TEST(RunIdentityTest, FrozenParametersHaveNoMomentsToGoOnWith) {
  TrainingOptions other = options();
  other.step.optimizer.depth = {.freezes_embeddings = true, .frozen_layers = 2};
  EXPECT_EQ(differences(run_identity(options()), run_identity(other)),
            "freeze_embeddings false, this run has true; freeze_layers 0, this run has 2");
}

TEST(RunIdentityTest, WhatMayChangeIsNotPartOfIt) {
  TrainingOptions other = options();
  other.schedule.base_learning_rate = 0.5;
  other.num_steps = 1000;
  other.step.optimizer.max_gradient_norm = 1;
  other.step.optimizer.weight_decay_rate = 0.1;
  other.step.compute_dtype = DType::kBF16;
  other.step.model.initializer_range = 0.5;
  EXPECT_EQ(differences(run_identity(options()), run_identity(other)), "");
}

TEST(RunIdentityTest, SurvivesAFileAndSkipsNamesOfOneSide) {
  auto stored = formats::Json::parse(formats::json_text(run_identity(options())));
  EXPECT_EQ(differences(stored, run_identity(options())), "");
  stored.erase("seed");
  stored["of_another_version"] = 1;
  EXPECT_EQ(differences(stored, run_identity(options())), "");
}

}  // namespace
}  // namespace cloze::train

#include "forecast/stage_costs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "train/training_step.h"

namespace cloze::forecast {
namespace {

constexpr int64_t kTokens = 64, kHidden = 16;

plan::Program program_of(bool recompute) {
  train::TrainingStepOptions step;
  step.model.vocab_size = 120;
  step.model.hidden_size = kHidden;
  step.model.num_hidden_layers = 4;
  step.model.num_attention_heads = 2;
  step.model.intermediate_size = 24;
  step.model.max_position_embeddings = 32;
  step.capacity = {.tokens = kTokens, .sequences = 4, .predictions = 8};
  step.recompute = recompute;
  step.compile = {.device = "null", .target = {.threads = 1}};
  return engine::compile(train::training_graph(step).graph, step.compile);
}

class StageCostsTest : public testing::TestWithParam<bool> {
 protected:
  std::vector<StageCosts> costs(const std::vector<int64_t>& layers) const {
    return stage_costs(program_, use_, seconds_, layers);
  }

  plan::Program program_ = program_of(GetParam());
  plan::ProgramUse use_ = plan::use_of(program_);
  StepSeconds seconds_{.calls = std::vector<double>(use_.launches.size(), 1.0), .host = 3.0};
};

TEST_P(StageCostsTest, OneStageIsTheWholeProgram) {
  const StageCosts whole = costs({4}).front();
  EXPECT_EQ(whole.all_parameter_bytes(), program_.bytes_of(plan::Arena::kParameters));
  EXPECT_EQ(whole.gradient_bytes, program_.bytes_of(plan::Arena::kGradients));
  EXPECT_EQ(whole.state_bytes, program_.bytes_of(plan::Arena::kOptimizerState));
  EXPECT_EQ(whole.activation_bytes, program_.bytes_of(plan::Arena::kActivations));
  EXPECT_EQ(whole.forward + whole.backward + whole.update(),
            static_cast<double>(use_.launches.size()));
  EXPECT_GT(whole.norm, 0.0);
  for (const FinishedGradient& gradient : whole.gradients) EXPECT_GT(gradient.update, 0.0);
  EXPECT_EQ(whole.host, 3.0);
  EXPECT_EQ(whole.forward_bytes + whole.backward_bytes + whole.tied_bytes, 0);
  const auto gradients = program_.graph.variables(graph::VariableRole::kGradient);
  EXPECT_EQ(whole.gradients.size(), gradients.size());
  // After the last of them only the losses are added up.
  EXPECT_LE(whole.gradients.back().at, whole.backward);
  EXPECT_GT(whole.gradients.back().at, 0.9 * whole.backward);
}

TEST_P(StageCostsTest, StagesShareTheWork) {
  const StageCosts whole = costs({4}).front();
  const std::vector<StageCosts> stages = costs({1, 2, 1});
  double forward = 0.0, backward = 0.0;
  int64_t parameters = 0;
  for (const StageCosts& stage : stages) {
    forward += stage.forward;
    backward += stage.backward;
    parameters += stage.all_parameter_bytes();
    EXPECT_LT(stage.activation_bytes, whole.activation_bytes);
  }
  EXPECT_EQ(forward, whole.forward);
  EXPECT_EQ(backward, whole.backward);
  // The word embedding is on the first stage and the last.
  const int64_t table = 120 * kHidden * 4;
  EXPECT_EQ(parameters, whole.all_parameter_bytes() + table);
  EXPECT_EQ(stages[0].tied_bytes, table);
  EXPECT_EQ(stages[1].tied_bytes, 0);
  EXPECT_EQ(stages[2].tied_bytes, table);
  // The first stage updates it.
  size_t updated = 0;
  int64_t states = 0;
  double update = 0.0, norm = 0.0;
  for (const StageCosts& stage : stages) {
    updated += stage.gradients.size();
    states += stage.state_bytes;
    update += stage.update() - stage.norm;
    norm += stage.norm;
    EXPECT_EQ(std::ranges::count(stage.gradients, table, &FinishedGradient::bytes),
              &stage == &stages.front() ? 1 : 0);
  }
  EXPECT_EQ(updated, whole.gradients.size());
  EXPECT_EQ(states, whole.state_bytes);
  EXPECT_NEAR(update, whole.update() - whole.norm, 1e-9);
  // Each stage squares its own gradients, those of the table on two of them.
  const auto gradients = static_cast<double>(whole.gradient_bytes);
  EXPECT_NEAR(norm, whole.norm * (1.0 + static_cast<double>(table) / gradients), 1e-9);
}

// The hidden values, and their gradients.
TEST_P(StageCostsTest, BoundariesCarryHiddenValues) {
  const std::vector<StageCosts> stages = costs({1, 2, 1});
  const int64_t hidden = kTokens * kHidden * 4;
  EXPECT_EQ(stages[0].forward_bytes, hidden);
  EXPECT_EQ(stages[1].forward_bytes, hidden);
  EXPECT_EQ(stages[2].forward_bytes, 0);
  EXPECT_EQ(stages[0].backward_bytes, 0);
  EXPECT_EQ(stages[1].backward_bytes, hidden);
  EXPECT_EQ(stages[2].backward_bytes, hidden);
}

// As Graphcore's configurations have them: embeddings alone, and heads alone.
TEST_P(StageCostsTest, AStageMayHaveNoLayer) {
  const std::vector<StageCosts> stages = costs({0, 4, 0});
  EXPECT_GT(stages[0].forward, 0.0);
  EXPECT_GT(stages[2].backward, 0.0);
  EXPECT_GT(stages[1].forward, stages[0].forward + stages[2].forward);
}

INSTANTIATE_TEST_SUITE_P(Recompute, StageCostsTest, testing::Bool());

}  // namespace
}  // namespace cloze::forecast

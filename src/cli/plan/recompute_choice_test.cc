#include "cli/plan/plan_command.h"

#include <gtest/gtest.h>

#include "cli/plan/step_plan.h"
#include "forecast/step_seconds.h"
#include "plan/program_use.h"

namespace cloze::cli {
namespace {

train::TrainingStepOptions small_step() {
  PretrainOptions options;
  options.model() = {.vocab_size = 200,
                     .hidden_size = 64,
                     .num_hidden_layers = 6,
                     .num_attention_heads = 2,
                     .intermediate_size = 256,
                     .max_position_embeddings = 128};
  options.seq_length = 128;
  options.micro_batch_size = 8;
  options.num_train_steps = 10;
  options.compile_only = true;
  options.training.step.compile.target.threads = 1;
  return PretrainRun(options).training.step;
}

// Of a step of four micro-batches.
RecomputeChoice::Cost cost_of(const plan::Program& program, const forecast::DeviceRates& rates) {
  const plan::ProgramUse use = plan::use_of(program);
  return {program.total_bytes(), forecast::estimated_seconds(program, use, rates).of_step(use, 4)};
}

TEST(RecomputeChoice, IsTheSameWhicheverIsPlanned) {
  train::TrainingStepOptions step = small_step();
  forecast::DeviceRates rates{.device = "a test"};
  rates.gflops["f32"] = 100.0;
  const plan::Program kept = compiled(step);
  const RecomputeChoice before = recompute_choice(step, cost_of(kept, rates), rates, 4);
  step.recompute = true;
  const plan::Program recomputed = compiled(step);
  const RecomputeChoice after = recompute_choice(step, cost_of(recomputed, rates), rates, 4);

  for (const RecomputeChoice& choice : {before, after}) {
    EXPECT_EQ(choice.kept.bytes, kept.total_bytes());
    EXPECT_EQ(choice.recomputed.bytes, recomputed.total_bytes());
    // The products of the layers' forward pass once more: a third of theirs.
    EXPECT_GT(choice.added_share(), 0.15);
    EXPECT_LT(choice.added_share(), 0.34);
  }
  EXPECT_EQ(before.added_share(), after.added_share());
  EXPECT_LT(recomputed.total_bytes(), kept.total_bytes());
}

TEST(RecomputeChoice, SaysWhatItSavesAndCosts) {
  constexpr int64_t kMebibyte = 1 << 20;
  RecomputeChoice choice{.kept = {30 * kMebibyte, 2.0}, .recomputed = {20 * kMebibyte, 2.5}};
  EXPECT_EQ(choice.text(),
            "recompute would save 10.0 MiB of the 30.0 that a step takes, and add 25 % to its "
            "time\n");
  choice.is_on = true;
  EXPECT_EQ(choice.text(),
            "recompute saves 10.0 MiB of the 30.0 that a step would take without it, and adds 25 % "
            "to its time\n");
}

}  // namespace
}  // namespace cloze::cli

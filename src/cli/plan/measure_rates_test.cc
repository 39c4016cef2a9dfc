#include "cli/plan/measure_rates.h"

#include <gtest/gtest.h>

#include "cli/plan/step_plan.h"
#include "cli/report/report.h"
#include "forecast/step_seconds.h"

namespace cloze::cli {
namespace {

// Measured on two of its six layers.
TEST(MeasureRates, GivesATimeForEveryLaunch) {
  PretrainOptions options;
  options.model() = {.vocab_size = 200,
                     .hidden_size = 64,
                     .num_hidden_layers = 6,
                     .num_attention_heads = 2,
                     .intermediate_size = 128,
                     .max_position_embeddings = 32};
  options.seq_length = 32;
  options.micro_batch_size = 40;
  options.tokens_per_micro_batch = 512;
  options.num_train_steps = 10;
  options.compile_only = true;
  options.training.step.recompute = true;
  options.training.step.compile.target.threads = 1;
  const PretrainRun run(options);
  const forecast::DeviceRates rates = measure_rates(run);
  EXPECT_GT(rates.gflops.at("f32"), 0.1);
  EXPECT_GT(rates.gigabytes_per_second, 0.01);

  EXPECT_EQ(run.batch.micro_batches, 3);  // of 16 sequences
  const plan::Program program = compiled(run.training.step);
  const Report report =
      training_report(run.training.step, {.sequences = 40, .seq_length = 32, .micro_batches = 3},
                      program, "memory");
  const forecast::StepSeconds seconds = forecast::estimated_seconds(program, report.use, rates);
  for (size_t i = 0; i < seconds.calls.size(); ++i) {
    EXPECT_GT(seconds.calls[i], 0.0) << report.use.launches[i].launch->name;
    EXPECT_LT(seconds.calls[i], 1.0) << report.use.launches[i].launch->name;
    const std::pair key{std::string(report.use.launches[i].launch->op->name),
                        forecast::dtype_of(program, *report.use.launches[i].node)};
    EXPECT_TRUE(rates.operators.contains(key)) << key.first;
  }
}

}  // namespace
}  // namespace cloze::cli

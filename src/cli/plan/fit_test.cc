#include "cli/plan/fit.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "cli/plan/run_memory.h"
#include "cli/plan/step_plan.h"

namespace cloze::cli {
namespace {

// Its plans take more than the tests before this one did.
PretrainOptions small() {
  PretrainOptions options;
  options.model() = {.vocab_size = 200,
                     .hidden_size = 512,
                     .num_hidden_layers = 2,
                     .num_attention_heads = 8,
                     .intermediate_size = 2048,
                     .max_position_embeddings = 128};
  options.seq_length = 128;
  options.micro_batch_size = 8;
  options.gradient_accumulation_count = 16;
  options.num_train_steps = 10;
  options.compile_only = true;
  options.training.step.compile.target.threads = 1;
  return options;
}

int64_t planned_bytes(PretrainOptions options, int64_t tokens,
                      const forecast::MemoryForecast& before) {
  options.tokens_per_micro_batch = tokens;
  const PretrainRun run(options);
  forecast::MemoryForecast memory = memory_beside_step(run, before);
  add_step(memory, run.training, compiled(run.training.step), saves_before_end(run));
  return memory.peak_bytes();
}

TEST(Fit, RefusesWhatIsNoSize) {
  PretrainOptions options = small();
  EXPECT_THROW(fit_micro_batch(options, "8", forecast::MemoryForecast()), UserError);
}

TEST(Fit, OneSequenceMoreWouldNotFit) {
  const forecast::MemoryForecast before;
  const int64_t limit = planned_bytes(small(), 23 * 128, before);
  PretrainOptions options = small();
  const std::string text =
      fit_micro_batch(options, std::to_string(limit / 1024 + 1) + "KiB", before);
  const int64_t tokens = options.tokens_per_micro_batch.value();
  EXPECT_GE(tokens, 23 * 128);
  EXPECT_LE(planned_bytes(options, tokens, before), limit + 1024);
  EXPECT_GT(planned_bytes(options, tokens + 128, before), limit + 1024);
  EXPECT_EQ(batch_plan(options).sequences_per_step, 128);
  EXPECT_NE(text.find("--global-batch-size 128 --tokens-per-micro-batch " + std::to_string(tokens)),
            std::string::npos)
      << text;
}

TEST(Fit, ThereIsNoMicroBatchAboveTheStep) {
  PretrainOptions options = small();
  fit_micro_batch(options, "1TiB", forecast::MemoryForecast());
  EXPECT_EQ(options.tokens_per_micro_batch, 128 * 128);
}

TEST(Fit, SaysWhatOneSequenceTakes) {
  PretrainOptions options = small();
  try {
    fit_micro_batch(options, "1KiB", forecast::MemoryForecast());
    FAIL();
  } catch (const UserError& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find("`fit` is 1KiB, but micro-batches of one sequence of 128 tokens take "),
              0u);
    EXPECT_NE(text.find("--recompute takes "), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace cloze::cli

#include "cli/plan/run_memory.h"

#include <gtest/gtest.h>

#include "cli/plan/step_plan.h"

namespace cloze::cli {
namespace {

// What a plan says of the memory of ten steps of 8 sequences.
std::string planned_memory(const ValidationOptions& validation) {
  PretrainOptions options;
  options.model() = {.vocab_size = 61,
                     .hidden_size = 16,
                     .num_hidden_layers = 1,
                     .num_attention_heads = 2,
                     .intermediate_size = 16,
                     .max_position_embeddings = 16};
  options.seq_length = 16;
  options.global_batch_size = 8;
  options.num_train_steps = 10;
  options.compile_only = true;
  options.training.step.compile.target.threads = 1;
  options.validation = validation;
  const PretrainRun run(options);
  forecast::MemoryForecast memory;
  add_planned_step(memory, run, compiled(run.training.step));
  return memory.text();
}

TEST(RunMemory, APlanCountsTheEvaluation) {
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  const std::string without = planned_memory({});
  EXPECT_FALSE(has(without, " for evaluation")) << without;
  EXPECT_FALSE(has(without, " for a copy to save")) << without;
  const std::string at_the_end = planned_memory({.files = "held_out", .triggers = {80.0}});
  EXPECT_TRUE(has(at_the_end, " for evaluation")) << at_the_end;
  EXPECT_FALSE(has(at_the_end, " for a copy to save")) << at_the_end;
  // The best checkpoint so far is saved.
  const std::string before = planned_memory({.files = "held_out", .triggers = {40.0}});
  EXPECT_TRUE(has(before, " for a copy to save")) << before;
}

}  // namespace
}  // namespace cloze::cli

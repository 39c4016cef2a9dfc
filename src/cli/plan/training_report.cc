#include "cli/plan/training_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/instruction_set.h"
#include "platform/processor.h"

namespace cloze::cli {

int64_t micro_batches_of_step(const RunOptions& options) {
  const BatchPlan batch = batch_plan(options);
  const int64_t full = full_sequences(options, batch);
  return (batch.sequences_per_step + full - 1) / full;
}

Report training_report(const RunOptions& options, const plan::Program& program,
                       const std::string& memory) {
  const models::BertConfig& model = options.model();
  const train::TrainingStepOptions& step = options.training.step;
  const BatchPlan batch = batch_plan(options);
  const int64_t micro_batches = micro_batches_of_step(options);
  Report report{
      .title = fmt::format("A training step of BERT: {} layers of {}, in {}",
                           model.num_hidden_layers, model.hidden_size, name_of(step.compute_dtype)),
      .program = program,
      .use = plan::use_of(program),
      .micro_batches = micro_batches};
  report.facts = {
      {"model",
       fmt::format("{} layers, hidden size {}, {} heads, intermediate size {}, {} tokens in "
                   "the vocabulary",
                   model.num_hidden_layers, model.hidden_size, model.num_attention_heads,
                   model.intermediate_size, model.vocab_size)},
      {"a step",
       fmt::format("{} sequences of up to {} tokens, in {} micro-batches of {} tokens",
                   batch.sequences_per_step, options.seq_length, micro_batches, batch.tokens)},
      {"computed", fmt::format("in {}, optimizer {}, activations {}", name_of(step.compute_dtype),
                               step.optimizer.name, step.recompute ? "recomputed" : "kept")},
      {"machine", fmt::format("{}, {} threads, {}", platform::processor_name(), program.num_threads,
                              engine::instruction_set())},
      {"process", memory}};
  return report;
}

}  // namespace cloze::cli

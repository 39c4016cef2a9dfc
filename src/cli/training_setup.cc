#include "cli/training_setup.h"

#include <fmt/core.h>

#include <map>

#include "cli/pretrain_data.h"

namespace cloze::cli {
namespace {

double mebibytes(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

int64_t num_parameters(const graph::Graph& graph) {
  int64_t count = 0;
  for (const graph::Value value : graph.variables(graph::VariableRole::kParameter)) {
    count += graph.type(value).shape.elements();
  }
  return count;
}

// "linear  cpu/linear/...  x12 (refused: ...)", equal choices together.
std::string describe_kernels(const plan::Program& program) {
  std::map<std::string, int> counts;
  for (const auto& phase : program.phases) {
    for (const plan::Launch& launch : phase) {
      std::string row = fmt::format("  {:<32} {}", launch.op->name, launch.kernel_name);
      for (const std::string& refusal : launch.refusals) row += fmt::format("  ({})", refusal);
      ++counts[row];
    }
  }
  std::string text = "kernels\n";
  for (const auto& [row, count] : counts) text += fmt::format("{}  x{}\n", row, count);
  return text;
}

}  // namespace

train::TrainingStepOptions training_step_options(const PretrainOptions& options) {
  const BatchPlan batch = batch_plan(options);
  return {.model = options.model,
          .capacity = {.tokens = batch.tokens,
                       .sequences = batch.sequences,
                       .predictions = prediction_room(options, batch)},
          .optimizer = optimizer_options(options),
          .compute_dtype = compute_dtype(options),
          .seed = static_cast<uint32_t>(options.seed),
          .compile = {.num_threads = static_cast<int>(options.threads)}};
}

train::TrainingOptions pretraining_options(const PretrainOptions& options) {
  PretrainData data = open_pretrain_data(options);
  const int64_t copies = draws_samples(options) ? 1 : options.duplicate_factor;
  const int64_t num_steps = training_steps(options, data.dataset->size(), copies);
  return {.step = training_step_options(options),
          .dataset = data.dataset,
          .global_batch_size = batch_plan(options).sequences_per_step,
          .duplicate_factor = copies,
          .seed = static_cast<uint64_t>(options.seed),
          .num_steps = num_steps,
          .schedule = learning_rate_schedule(options, num_steps),
          .save_path = options.save_path,
          .init_checkpoint = options.init_checkpoint,
          .restore_dir = options.restore_dir,
          .steps_per_checkpoint = options.steps_per_ckpts,
          .max_to_keep = options.max_to_keep,
          .steps_per_log = options.steps_per_logs,
          .tokens = std::move(data.tokens),
          .lower_case = data.lower_case,
          .loader_threads = options.loader_threads,
          .loader_memory_bytes = options.loader_memory * (1 << 20)};
}

std::string describe_program(const plan::Program& program, bool with_kernels) {
  std::string text = fmt::format("parameters {:.1f} million\n",
                                 static_cast<double>(num_parameters(program.graph)) / 1e6);
  for (int i = 0; i < plan::kNumArenas; ++i) {
    text += fmt::format("  {:<16} {:>10.1f} MiB\n", plan::name_of(static_cast<plan::Arena>(i)),
                        mebibytes(program.arena_bytes[i]));
  }
  text += fmt::format("memory {:.1f} MiB\n", mebibytes(program.total_bytes()));
  if (with_kernels) text += describe_kernels(program);
  return text;
}

}  // namespace cloze::cli

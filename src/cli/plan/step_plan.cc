#include "cli/plan/step_plan.h"

#include <fmt/core.h>

#include <map>

#include "base/byte_size.h"
#include "engine/devices.h"
#include "inference/inference_memory.h"

namespace cloze::cli {
namespace {

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

std::string describe_inference(const train::TrainingStepOptions& step) {
  const inference::InferenceMemory memory = inference::inference_memory(
      step.model, step.head, {.device = step.compile.device}, step.compile.target.threads);
  return fmt::format("to infer: {:.1f} MiB: {:.1f} for weights, {:.1f} for a batch\n",
                     mebibytes(memory.weights_bytes + memory.batch_bytes),
                     mebibytes(memory.weights_bytes), mebibytes(memory.batch_bytes));
}

}  // namespace

plan::Program compiled(const train::TrainingStepOptions& step) {
  return engine::compile(train::training_graph(step).graph, step.compile);
}

std::string describe_plan(const train::TrainingStepOptions& step, const plan::Program& program,
                          int64_t sequences_per_step, const forecast::MemoryForecast& memory,
                          bool with_kernels) {
  const auto& [tokens, sequences, predictions] = step.capacity;
  std::string text = fmt::format(
      "a step trains on {} sequences, in micro-batches with room for {} tokens, {} sequences",
      sequences_per_step, tokens, sequences);
  if (predictions > 0) text += fmt::format(" and {} predictions", predictions);
  text += fmt::format("\nparameters {:.1f} million\n",
                      static_cast<double>(num_parameters(program.graph)) / 1e6);
  for (int i = 0; i < plan::kNumArenas; ++i) {
    if (program.arena_bytes[i] == 0) continue;
    text += fmt::format("  {:<16} {:>10.1f} MiB\n", plan::name_of(static_cast<plan::Arena>(i)),
                        mebibytes(program.arena_bytes[i]));
  }
  text += memory.text() + "\n" + describe_inference(step);
  text += fmt::format("instruction set {}\n",
                      engine::device_named(step.compile.device).backend().instruction_set());
  if (with_kernels) text += describe_kernels(program);
  return text;
}

}  // namespace cloze::cli

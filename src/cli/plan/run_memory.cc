#include "cli/plan/run_memory.h"

#include "cli/options/machine_options.h"
#include "data/loader.h"
#include "feed/step_inputs.h"
#include "platform/memory.h"
#include "runtime/executor.h"
#include "train/evaluation.h"
#include "train/ranks/gradient_exchange.h"

namespace cloze::cli {
namespace {

// Such a run also saves the best checkpoint so far. An unknown length counts as a long one.
bool evaluates_before_end(const PretrainRun& run) {
  const std::optional<int64_t> steps = run.length.planned();
  return !steps ||
         !validation_steps(run.options.validation, run.batch.sequences_per_step, *steps).empty();
}

}  // namespace

forecast::MemoryForecast memory_beside_step(const ResolvedRun& run,
                                            forecast::MemoryForecast memory) {
  // Code that has not run yet, stacks of threads, and what the allocator keeps for them: measured,
  // 3 to 4 MiB.
  constexpr int64_t kFirstStepBytes = 4 << 20;
  memory.use_card(card_memory(run.training.step.compile.device));
  memory.add("what the first step alone takes", kFirstStepBytes);
  const train::TrainingOptions& training = run.training;
  if (training.synthetic_data) return memory;
  data::LoaderOptions loading{.global_batch_size = training.global_batch_size,
                              .capacity = training.step.capacity,
                              .threads = training.loader_threads,
                              .memory_bytes = training.loader_memory << 20};
  loading.take_together(training.device_iterations);
  memory.add("batches made ahead", data::most_bytes(loading, run.options.seq_length));
  return memory;
}

void add_step(forecast::MemoryForecast& memory, const train::TrainingOptions& training,
              const plan::Program& program, bool saves_before_end) {
  const train::TrainingStepOptions& step = training.step;
  const bool has_states_aside = !step.compile.optimizer_state_folder.empty();
  memory.add_to_device("a step",
                       program.total_bytes() -
                           (has_states_aside ? program.bytes_of(plan::Arena::kOptimizerState) : 0),
                       runtime::input_image_bytes(program));
  memory.add("smaller micro-batches", feed::smaller_sessions_bytes(program));
  if (saves_before_end && train::saves_from_copy(step)) {
    memory.add("a copy to save", train::checkpoint_tensor_bytes(program.graph));
  }
  if (step.ranks->size() > 1) {
    memory.add("messages of ranks",
               train::message_bytes(step.num_stages(), step.num_replicas(),
                                    program.bytes_of(plan::Arena::kGradients)));
  }
  if (step.reproducible_sums) {
    memory.add("sums of gradients", program.bytes_of(plan::Arena::kGradients));
  }
  const int64_t steps = training.device_iterations;
  if (steps == 1) return;
  // Each is a separate block of the host's memory.
  memory.add("device iterations",
             steps * platform::whole_pages(program.bytes_of(plan::Arena::kMetrics)));
}

void add_planned_step(forecast::MemoryForecast& memory, const PretrainRun& run,
                      const plan::Program& program) {
  bool saves = saves_before_end(run);
  if (!run.options.validation.files.empty()) {
    memory.add_to_device("evaluation", train::evaluation_program_bytes(run.training.step));
    saves = saves || evaluates_before_end(run);
  }
  add_step(memory, run.training, program, saves);
}

bool saves_before_end(const train::TrainingOptions& training, int64_t num_steps) {
  const int64_t period = training.steps_per_checkpoint;
  return training.watch.rolls_back() || (period > 0 && num_steps > period) ||
         (!training.evaluation_steps.empty() && num_steps > training.evaluation_steps.front());
}

bool saves_before_end(const ResolvedRun& run) {
  return saves_before_end(run.training, run.length.planned().value_or(INT64_MAX));
}

}  // namespace cloze::cli

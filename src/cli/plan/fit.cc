#include "cli/plan/fit.h"

#include <fmt/format.h>

#include <optional>

#include "base/byte_size.h"
#include "base/error.h"
#include "cli/plan/run_memory.h"
#include "cli/plan/step_plan.h"

namespace cloze::cli {
namespace {

// Micro-batches of full sequences.
struct MicroBatch {
  int64_t sequences = 0;
  bool recompute = false;
};

// Plans a run of them.
int64_t planned_bytes(PretrainOptions options, const MicroBatch& micro_batch,
                      const forecast::MemoryForecast& before) {
  options.tokens_per_micro_batch = micro_batch.sequences * options.seq_length;
  options.training.step.recompute = micro_batch.recompute;
  const PretrainRun run(options);
  forecast::MemoryForecast memory = memory_beside_step(run, before);
  add_planned_step(memory, run, compiled(run.training.step));
  return memory.device_bytes();
}

[[noreturn]] void refuse(const PretrainOptions& options, const std::string& memory,
                         const forecast::MemoryForecast& before) {
  const auto taken = [&](bool recompute) {
    return mebibytes(planned_bytes(options, {1, recompute}, before));
  };
  const bool recompute = options.training.step.recompute;
  const std::string advice = recompute ? "lower seq_length or the model's sizes"
                                       : fmt::format("--recompute takes {:.1f} MiB", taken(true));
  throw_user_error(
      "`fit` is {}, but micro-batches of one sequence of {} tokens take {:.1f} MiB; {}", memory,
      options.seq_length, taken(recompute), advice);
}

}  // namespace

std::string fit_micro_batch(PretrainOptions& options, const std::string& memory,
                            const forecast::MemoryForecast& before) {
  const std::optional<int64_t> limit = byte_size(memory);
  if (!limit) {
    throw_user_error(
        "`fit` is {}; give a number with KiB, MiB, GiB, TiB, KB, MB, GB or TB, such as 8GiB",
        memory);
  }
  const bool recompute = options.training.step.recompute;
  const int64_t sequences_per_step = batch_plan(options).sequences_per_step;
  int64_t fits = 0;
  int64_t too_many = sequences_per_step + 1;
  while (fits + 1 < too_many) {
    const int64_t middle = fits + (too_many - fits) / 2;
    const bool does = planned_bytes(options, {middle, recompute}, before) <= *limit;
    (does ? fits : too_many) = middle;
  }
  if (fits == 0) refuse(options, memory, before);
  options.global_batch_size = sequences_per_step;
  options.gradient_accumulation_count.reset();
  options.tokens_per_micro_batch = fits * options.seq_length;
  return fmt::format(
      "fit {}: --global-batch-size {} --tokens-per-micro-batch {}, {} full sequences\n", memory,
      sequences_per_step, *options.tokens_per_micro_batch, fits);
}

}  // namespace cloze::cli

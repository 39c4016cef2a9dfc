#include "cli/plan/fit.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/byte_size.h"
#include "base/error.h"
#include "cli/training/training_run.h"
#include "cli/training/training_setup.h"

namespace cloze::cli {
namespace {

// What plans of micro-batches of so many full sequences take.
class Plans {
 public:
  Plans(PretrainOptions options, const forecast::MemoryForecast& before)
      : options_(std::move(options)), step_(training_step_options(options_)), before_(before) {}

  int64_t bytes(int64_t sequences, bool recompute) {
    options_.tokens_per_micro_batch = sequences * options_.seq_length;
    const BatchPlan batch = batch_plan(options_);
    step_.capacity = {.tokens = batch.tokens,
                      .sequences = batch.sequences,
                      .predictions = prediction_room(options_, batch)};
    step_.recompute = recompute;
    forecast::MemoryForecast memory = memory_beside_step(options_, step_.capacity, before_);
    add_planned_step(memory, options_, step_, compiled(step_));
    return memory.peak_bytes();
  }

 private:
  PretrainOptions options_;
  train::TrainingStepOptions step_;
  const forecast::MemoryForecast& before_;
};

[[noreturn]] void refuse(Plans& plans, const PretrainOptions& options, const std::string& memory) {
  std::string advice = "lower seq_length or the model's sizes";
  if (!options.training.step.recompute) {
    advice = fmt::format("--recompute takes {:.1f} MiB", mebibytes(plans.bytes(1, true)));
  }
  throw_user_error(
      "`fit` is {}, but micro-batches of one sequence of {} tokens take {:.1f} MiB; {}", memory,
      options.seq_length, mebibytes(plans.bytes(1, options.training.step.recompute)), advice);
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
  Plans plans(options, before);
  int64_t fits = 0;
  int64_t too_many = sequences_per_step + 1;
  while (fits + 1 < too_many) {
    const int64_t middle = fits + (too_many - fits) / 2;
    (plans.bytes(middle, recompute) <= *limit ? fits : too_many) = middle;
  }
  if (fits == 0) refuse(plans, options, memory);
  options.global_batch_size = sequences_per_step;
  options.gradient_accumulation_count.reset();
  options.tokens_per_micro_batch = fits * options.seq_length;
  return fmt::format(
      "fit {}: --global-batch-size {} --tokens-per-micro-batch {}, {} full sequences\n", memory,
      sequences_per_step, *options.tokens_per_micro_batch, fits);
}

}  // namespace cloze::cli

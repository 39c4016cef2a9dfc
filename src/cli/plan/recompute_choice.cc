#include "cli/plan/recompute_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/memory_forecast.h"
#include "cli/plan/step_seconds.h"
#include "cli/training_setup.h"
#include "plan/program_use.h"

namespace cloze::cli {
std::string RecomputeChoice::text() const {
  // A small model may take more.
  const int64_t saved = std::max<int64_t>(kept.bytes - recomputed.bytes, 0);
  return fmt::format(
      "recompute {} {:.1f} MiB of the {:.1f} that a step {}, and {} {:.0f} % to its time\n",
      is_on ? "saves" : "would save", mebibytes(saved), mebibytes(kept.bytes),
      is_on ? "would take without it" : "takes", is_on ? "adds" : "add", 100.0 * added_share());
}

RecomputeChoice recompute_choice(const train::TrainingStepOptions& step,
                                 const RecomputeChoice::Cost& planned, const DeviceRates& rates,
                                 int64_t micro_batches) {
  train::TrainingStepOptions other = step;
  other.recompute = !step.recompute;
  const plan::Program program = compiled(other);
  const plan::ProgramUse use = plan::use_of(program);
  const RecomputeChoice::Cost otherwise{
      program.total_bytes(), estimated_seconds(program, use, rates).of_step(use, micro_batches)};
  return {.kept = step.recompute ? otherwise : planned,
          .recomputed = step.recompute ? planned : otherwise,
          .is_on = step.recompute};
}

}  // namespace cloze::cli

#include "train/training_options.h"

namespace cloze::train {

std::optional<std::string_view> TrainingOptions::why_step_by_step() const {
  if (step.eager) return "eager";
  if (step.ranks->size() > 1) return "several processes";
  if (step.reproducible_sums) return "reproducible_sums";
  if (step.compute_dtype == DType::kF16) return "precision f16";
  if (loss_scale.is_dynamic(step.compute_dtype)) return "a dynamic loss scale";
  if (watch.on_non_finite != WatchPolicy::kStop) return "on_non_finite";
  if (watch.acts_on_spikes()) return "on_loss_spike";
  return std::nullopt;
}

bool saves_from_copy(const TrainingStepOptions& step) {
  return !step.divides_states() && step.num_stages() == 1 &&
         step.compile.optimizer_state_folder.empty();
}

}  // namespace cloze::train

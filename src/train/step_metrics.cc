#include "train/step_metrics.h"

#include <optional>
#include <string>

#include "models/bert_flops.h"
#include "train/tensor_norms.h"

namespace cloze::train {
namespace {

models::BatchWork work_of(const data::StepBatch& batch) {
  models::BatchWork work{.tokens = static_cast<double>(batch.num_tokens),
                         .predictions = static_cast<double>(batch.num_predictions)};
  for (const data::MicroBatch& micro_batch : batch.micro_batches) {
    const std::vector<int32_t>& starts = micro_batch.sequence_starts;
    for (size_t i = 0; i + 1 < starts.size(); ++i) {
      const double length = starts[i + 1] - starts[i];
      work.squared_lengths += length * length;
    }
  }
  work.squared_lengths *= static_cast<double>(batch.passes());
  return work;
}

std::optional<double> ceiling_share(double flops, double seconds, double product_flops) {
  return product_flops > 0.0 ? std::optional(flops / (seconds * product_flops)) : std::nullopt;
}

}  // namespace

StepMetrics step_metrics(const Run& run, const StepAhead& step, const StepResult& result,
                         StepSeconds seconds) {
  const data::StepBatch& batch = *step.batch;
  const TrainingState& state = run.state;
  const double flops = models::training_flops(run.options.step.model, work_of(batch),
                                              run.options.step.optimizer.depth.frozen_layers);
  return {.step = state.step,
          .epoch = state.epoch,
          .samples = state.samples,
          .tokens = state.tokens,
          .loss = result.loss(),
          .losses = result.losses,
          .high_losses = state.watch.high_losses,
          .learning_rate = step.learning_rate,
          .gradient_norm = result.gradient_norm,
          .loss_scale = step.loss_scale,
          .skipped_steps = state.skipped_steps,
          .tokens_per_second = static_cast<double>(batch.num_tokens) / seconds.all,
          .sequences_per_second = static_cast<double>(batch.num_sequences) / seconds.all,
          .data_wait_share = seconds.waited / seconds.all,
          .seconds = seconds.all,
          .communication = result.communication,
          .bubble = result.bubble,
          .flops = flops,
          .ceiling_share = ceiling_share(flops, seconds.all, run.options.product_flops)};
}

// Where ranks have different tensors, each says what it knows of its own.
std::vector<TensorNorm> norms_of_all(TrainingStep& step, double loss_scale) {
  const std::vector<TensorNorm> norms = tensor_norms(step.session(), loss_scale);
  if (!step.is_divided()) return norms;
  struct Norms {
    double weight = 0.0, gradient = 0.0;
  };
  std::vector<std::string> names;
  std::vector<Norms> own;
  const std::vector<bool> is_own = step.own_gradients();
  for (size_t i = 0; i < norms.size(); ++i) {
    if (!is_own[i]) continue;
    names.push_back(norms[i].name);
    own.push_back({norms[i].weight, norms[i].gradient});
  }
  const std::vector<std::vector<std::string>> all_names = step.ranks().all_gather(names);
  const std::vector<std::vector<Norms>> all = step.ranks().all_gather(own);
  std::vector<TensorNorm> shared;
  for (size_t rank = 0; rank < all.size(); ++rank) {
    for (size_t i = 0; i < all[rank].size(); ++i) {
      shared.push_back({all_names[rank][i], all[rank][i].weight, all[rank][i].gradient});
    }
  }
  return shared;
}

}  // namespace cloze::train

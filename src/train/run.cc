#include "train/run.h"

#include <utility>

namespace cloze::train {

Run::Run(TrainingOptions given, Notice to)
    : options(std::move(given)), notice(std::move(to)), step(options.step) {
  if (options.evaluation_set) options.evaluated_on = options.evaluation_set->fingerprint();
}

void Run::count(const data::StepBatch& batch) {
  state.samples += batch.num_samples;
  state.tokens += batch.num_tokens;
  state.epoch = static_cast<double>(state.samples) * static_cast<double>(options.duplicate_factor) /
                static_cast<double>(options.dataset->size());
}

void Run::skip(const data::StepBatch& batch) {
  count(batch);
  ++state.skipped_steps;
}

}  // namespace cloze::train

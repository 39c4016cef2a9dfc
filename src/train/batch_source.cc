#include "train/batch_source.h"

#include "train/training_options.h"

namespace cloze::train {

BatchSource::BatchSource(const TrainingOptions& options, int64_t first) {
  data::LoaderOptions loading{.dataset = options.dataset,
                              .global_batch_size = options.global_batch_size,
                              .capacity = options.step.capacity,
                              .seed = options.step.seed,
                              .first_step = first,
                              .threads = options.loader_threads,
                              .memory_bytes = options.loader_memory << 20};
  loading.take_together(options.device_iterations);
  if (options.synthetic_data) {
    synthetic_ = data::synthetic_step(loading);
  } else {
    loader_.emplace(std::move(loading));
  }
}

std::vector<data::StepBatch> BatchSource::next(int64_t count) {
  if (!loader_) return {static_cast<size_t>(count), synthetic_};
  std::vector<data::StepBatch> batches;
  while (std::ssize(batches) < count) batches.push_back(loader_->next());
  return batches;
}

}  // namespace cloze::train

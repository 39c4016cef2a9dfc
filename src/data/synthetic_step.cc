#include "data/synthetic_step.h"

#include "base/error.h"
#include "data/packer.h"

namespace cloze::data {

StepBatch synthetic_step(const LoaderOptions& options) {
  const int64_t count = options.dataset->size();
  CLOZE_CHECK(options.global_batch_size % count == 0, "{} samples of a step by {}",
              options.global_batch_size, count);
  std::vector<Sample> samples;
  for (int64_t i = 0; i < count; ++i) samples.push_back(options.dataset->sample(i, 0));
  StepBatch batch = pack(samples, options.capacity, 0);
  CLOZE_CHECK(batch.micro_batches.size() == 1, "{} micro-batches", batch.micro_batches.size());
  batch.synthetic_passes = options.global_batch_size / count;
  batch.num_tokens *= batch.synthetic_passes;
  batch.num_sequences *= batch.synthetic_passes;
  batch.num_predictions *= batch.synthetic_passes;
  return batch;
}

}  // namespace cloze::data

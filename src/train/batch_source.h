// The batches of a run in order: from a loader or, with synthetic data, the same one again and
// again.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "data/loader.h"

namespace cloze::train {

struct TrainingOptions;

class BatchSource {
 public:
  // Begins with batch `first` of the run.
  BatchSource(const TrainingOptions& options, int64_t first);

  std::vector<data::StepBatch> next(int64_t count);
  // The time waited for data, all calls together.
  double waited_seconds() const { return loader_ ? loader_->waited_seconds() : 0.0; }

 private:
  std::optional<data::Loader> loader_;
  data::StepBatch synthetic_;
};

}  // namespace cloze::train

#include "tasks/sample_dataset.h"

#include <fmt/format.h>

#include "data/sample_digest.h"

namespace cloze::tasks {

data::Sample SampleDataset::sample(int64_t index, int64_t /*epoch*/) const {
  return samples_[static_cast<size_t>(index)];
}

std::string SampleDataset::fingerprint() const {
  return fmt::format("{} samples {}", size(), data::sample_digest(*this));
}

}  // namespace cloze::tasks

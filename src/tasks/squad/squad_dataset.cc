#include "tasks/squad/squad_dataset.h"

#include <fmt/format.h>

#include "data/sample_digest.h"

namespace cloze::tasks {

SquadDataset::SquadDataset(SquadData data, SquadFeatures features)
    : data_(std::move(data)), features_(std::move(features)) {}

data::Sample SquadDataset::sample(int64_t index, int64_t /*epoch*/) const {
  return squad_sample(data_, features_, features_.windows[static_cast<size_t>(index)]);
}

std::string SquadDataset::fingerprint() const {
  return fmt::format("squad {} questions, {} windows {}", data_.questions.size(),
                     features_.windows.size(), data::sample_digest(*this));
}

}  // namespace cloze::tasks

// Samples in memory as a data set.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "data/dataset.h"

namespace cloze::tasks {

class SampleDataset final : public data::Dataset {
 public:
  explicit SampleDataset(std::vector<data::Sample> samples) : samples_(std::move(samples)) {}
  int64_t size() const override { return std::ssize(samples_); }
  data::Sample sample(int64_t index, int64_t /*epoch*/) const override {
    return samples_[static_cast<size_t>(index)];
  }
  std::string fingerprint() const override {
    return fmt::format("{} samples {}", size(), data::sample_digest(*this));
  }

 private:
  std::vector<data::Sample> samples_;
};

}  // namespace cloze::tasks

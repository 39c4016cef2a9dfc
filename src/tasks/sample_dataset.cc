#include "tasks/sample_dataset.h"

#include <fmt/format.h>

#include "formats/crc32c.h"

namespace cloze::tasks {

SampleDataset::SampleDataset(std::vector<data::Sample> samples) : samples_(std::move(samples)) {
  uint32_t checksum = 0;
  for (const data::Sample& sample : samples_) {
    checksum ^= formats::crc32c(std::as_bytes(std::span(sample.input_ids)));
  }
  fingerprint_ = fmt::format("samples {} {:08x}", samples_.size(), checksum);
}

data::Sample SampleDataset::sample(int64_t index, int64_t /*epoch*/) const {
  return samples_[static_cast<size_t>(index)];
}

}  // namespace cloze::tasks

// Dataset: samples by number, whatever they come from. Reading is a function of index and epoch
// alone and may be called from several threads at once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/sample.h"

namespace cloze::data {

class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual int64_t size() const = 0;
  // 0 <= index < size(). Records are the same in every epoch; what is drawn is drawn anew.
  virtual Sample sample(int64_t index, int64_t epoch) const = 0;
  // Numbers for what a step may hold only once, such as the texts of a sample: no two samples of a step
  // share one (data/distinct_order.h). Either all samples have some, or none has.
  virtual std::vector<int32_t> only_once(int64_t /*index*/) const { return {}; }
  // A name for the samples, equal for equal samples: a resumed run must find it again.
  virtual std::string fingerprint() const = 0;
};

// A name for the content of a data set: XXH3-128 of all its samples in their order, with all that
// is to be learned of them, as 32 hex digits. Reads every sample once, those of epoch 0.
std::string sample_digest(const Dataset& dataset);
// The same of samples in memory.
std::string sample_digest(std::span<const Sample> samples);

}  // namespace cloze::data

// Made-up samples to measure with: random tokens, two segments, and one blank where the head fills
// blanks. Each is a function of its index.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "data/offline_packing/length_histogram.h"
#include "data/sample.h"
#include "inference/packed_model.h"

namespace cloze::inference {

class MadeUpSamples {
 public:
  // Samples for the model, as long as each other, or with the lengths of a histogram (length and
  // count a line) when it is named. UserError when the model has fewer positions.
  MadeUpSamples(const PackedModel& model, int64_t length, const std::filesystem::path& histogram);

  // The samples [first, first + count).
  std::vector<data::Sample> batch(int64_t first, int64_t count) const;

 private:
  data::Sample sample(int64_t index) const;

  models::BertConfig config_;
  models::HeadKind kind_;
  int64_t length_;
  std::optional<data::SpreadLengths> lengths_;
};

}  // namespace cloze::inference

// Random samples whose lengths are as frequent as those of a data set (data/offline_packing/
// length_histogram.h), laid out as they are or padded to S.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "data/generated_dataset.h"
#include "data/offline_packing/length_histogram.h"

namespace cloze::bench {

struct NaturalStep {
  std::vector<data::Sample> samples;
  int64_t real_tokens = 0;
  int64_t real_squared_lengths = 0;
};

class NaturalLengths {
 public:
  // `contents.sequence_length` is S; UserError where the histogram has longer sequences.
  NaturalLengths(const std::filesystem::path& histogram, const data::GeneratedOptions& contents);

  // Samples [first, first + count). Padded ones have S tokens, all of which are computed; their
  // predictions, 15 % of the length, are the same either way.
  NaturalStep step(int64_t first, int64_t count, bool is_padded) const;

 private:
  data::GeneratedOptions contents_;
  data::GeneratedDataset dataset_;
  data::SpreadLengths lengths_;
};

}  // namespace cloze::bench

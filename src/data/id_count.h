// Counts the tokens of a data set that are of some kind, in samples from all over it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "data/dataset.h"

namespace cloze::data {

// Enough samples to estimate a share.
inline constexpr int64_t kCountedSamples = 4096;

struct IdCount {
  int64_t samples = 0;  // that were looked at
  int64_t tokens = 0;   // of these, [CLS] and [SEP] included
  int64_t found = 0;    // of the tokens
};

// Counts ids in at most `max_samples` samples of epoch 0, spread over the data. Masked tokens count
// as what they were.
IdCount count_ids(const Dataset& dataset, int64_t max_samples,
                  const std::function<bool(int32_t)>& is_counted);

// The text of a sample: its ids with those in the masked places that were there before.
std::vector<int32_t> unmasked_ids(const Sample& sample);

// The likely id of [UNK] in data that come without a vocabulary: the one before [CLS], which begins
// every sample. So it is in the vocabularies of Google and Hugging Face, of ours, and in those that
// the package tokenizers trains. -1 where there are no samples, or none can be before.
int32_t likely_unknown_id(const Dataset& dataset);

}  // namespace cloze::data

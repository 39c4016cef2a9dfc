// Counts what a data set holds: the figures to compare a training run with.
//
//   unigram entropy = - sum over ids of p ln p,  p = share of the id among the masked labels (nats)
//
// Of the masked positions, those that hold their label are "unchanged"; the most frequent id of the
// others is taken to be [MASK], and the rest are "random".
//
// A model that knows nothing but how frequent each word is has an MLM loss of this entropy.
#pragma once

#include <cstdint>
#include <functional>

#include "data/dataset.h"
#include "data/offline_packing/length_histogram.h"

namespace cloze::data {

struct DatasetStatistics {
  int64_t records = 0;
  LengthHistogram lengths;
  int64_t predictions = 0;
  int64_t random_next = 0;  // records labelled 1
  double unigram_entropy = 0;
  int64_t masked_unchanged = 0;
  int64_t masked_by_mask = 0;
  int32_t mask_id = -1;  // -1: no masked position holds another id than its label
  int64_t unknown = 0;   // tokens of the text that were [UNK] before any was masked

  int64_t tokens() const { return lengths.num_tokens(); }
  double mean_length() const {
    return static_cast<double>(tokens()) / static_cast<double>(records);
  }
  double mean_predictions() const {
    return static_cast<double>(predictions) / static_cast<double>(records);
  }
};

// Reads every sample of an epoch once, on `threads` threads. `progress` is told how many so far.
// `unknown_id` is that of [UNK]; -1 where it is not known.
DatasetStatistics measure(const Dataset& dataset, int threads,
                          const std::function<void(int64_t)>& progress, int32_t unknown_id = -1);

}  // namespace cloze::data

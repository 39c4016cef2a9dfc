// The order of the samples of a data set in which no two that may not meet (Dataset::only_once) are in
// one step. The samples come as the loader's do, epoch after epoch, each shuffled; one that has to wait
// goes into the first later step that it fits into. So each sample is used once in an epoch, or a
// little later.
//
// The order is a function of (data set, samples of a step, seed). Steps are made one after the other,
// so that a run that resumes makes those before it again: a microsecond for each sample.
//
// Errors: UserError when the samples of two epochs do not fill a step. Threads may share it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "data/dataset.h"
#include "data/shuffle.h"

namespace cloze::data {

class DistinctOrder {
 public:
  DistinctOrder(std::shared_ptr<const Dataset> dataset, int64_t samples_per_step, uint64_t seed);

  std::vector<ShuffledEpochs::Place> step(int64_t step);

 private:
  using Place = ShuffledEpochs::Place;
  using Taken = std::unordered_set<int32_t>;

  void add_step();
  // Adds a sample to the step that ends the list, if it may be there.
  bool take(const Place& place, Taken& taken);

  std::shared_ptr<const Dataset> dataset_;
  int64_t samples_per_step_;
  std::mutex mutex_;
  ShuffledEpochs epochs_;
  std::vector<Place> places_;  // of the steps so far
  std::deque<Place> waiting_;  // drawn before
  int64_t drawn_ = 0;
};

}  // namespace cloze::data

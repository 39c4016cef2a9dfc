#include "data/distinct_order.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"

namespace cloze::data {

DistinctOrder::DistinctOrder(std::shared_ptr<const Dataset> dataset, int64_t samples_per_step,
                             uint64_t seed)
    : dataset_(std::move(dataset)),
      samples_per_step_(samples_per_step),
      epochs_(dataset_->size(), seed) {}

std::vector<ShuffledEpochs::Place> DistinctOrder::step(int64_t step) {
  const std::lock_guard lock(mutex_);
  while (std::ssize(places_) < (step + 1) * samples_per_step_) add_step();
  const auto begin = places_.begin() + step * samples_per_step_;
  return {begin, begin + samples_per_step_};
}

bool DistinctOrder::take(const Place& place, Taken& taken) {
  const std::vector<int32_t> own = dataset_->only_once(place.index);
  const auto is_taken = [&](int32_t number) { return taken.contains(number); };
  if (std::ranges::any_of(own, is_taken)) return false;
  taken.insert(own.begin(), own.end());
  places_.push_back(place);
  return true;
}

void DistinctOrder::add_step() {
  const int64_t end = std::ssize(places_) + samples_per_step_;
  const auto is_full = [&] { return std::ssize(places_) == end; };
  Taken taken;
  std::deque<Place> still_waiting;
  for (const Place& place : waiting_) {
    if (is_full() || !take(place, taken)) still_waiting.push_back(place);
  }
  waiting_ = std::move(still_waiting);
  const int64_t last = drawn_ + 2 * dataset_->size();
  while (!is_full()) {
    if (drawn_ == last) {
      throw_user_error(
          "no {} samples of the {} there are have texts that all differ, as those of a step must; "
          "lower global_batch_size, or leave out rows with the same texts",
          samples_per_step_, dataset_->size());
    }
    const Place place = epochs_.at(drawn_++);
    if (!take(place, taken)) waiting_.push_back(place);
  }
}

}  // namespace cloze::data

#include "train/ranks/shared_parameters.h"

#include <algorithm>
#include <functional>

#include "runtime/value_slices.h"

namespace cloze::train {

template <typename Body>
void SharedParameters::change_in_slices(const std::string& name, const Body& body) {
  static_assert(runtime::kSliceBytes == comm::kSliceFloats * int64_t{sizeof(float)},
                "a slice is a message");
  for (runtime::ValueSlices slices(session_.executor(), session_.value(name)); slices.next();) {
    if (body(slices.read<float>())) slices.write();
  }
}

bool SharedParameters::sum_on_first(std::span<const int> ranks, std::span<float> slice) {
  if (stages_.rank() != ranks.front()) {
    stages_.send_when_there_is_room(std::as_bytes(slice), ranks.front());
    return false;
  }
  std::vector<float> theirs(slice.size());
  for (const int other : ranks.subspan(1)) {
    stages_.receive(std::as_writable_bytes(std::span(theirs)), other);
    std::ranges::transform(slice, theirs, slice.begin(), std::plus<>());
  }
  return true;
}

bool SharedParameters::give_to_others(std::span<const int> ranks, std::span<float> slice) {
  if (stages_.rank() != ranks.front()) {
    stages_.receive(std::as_writable_bytes(slice), ranks.front());
    return true;
  }
  for (const int other : ranks.subspan(1)) {
    stages_.send_when_there_is_room(std::as_bytes(slice), other);
  }
  return false;
}

void SharedParameters::sum_gradients() {
  for (const passes::SharedParameter& shared : shared_) {
    if (!std::ranges::binary_search(shared.ranks, stages_.rank())) continue;
    change_in_slices(shared.gradient,
                     [&](std::span<float> slice) { return sum_on_first(shared.ranks, slice); });
  }
}

void SharedParameters::share_parameters() {
  for (const passes::SharedParameter& shared : shared_) {
    if (!std::ranges::binary_search(shared.ranks, stages_.rank())) continue;
    change_in_slices(shared.name,
                     [&](std::span<float> slice) { return give_to_others(shared.ranks, slice); });
  }
}

bool SharedParameters::is_first_with(const std::string& parameter) const {
  const auto shared = std::ranges::find(shared_, parameter, &passes::SharedParameter::name);
  if (shared != shared_.end()) return shared->ranks.front() == stages_.rank();
  return session_.has(parameter);
}

}  // namespace cloze::train

#include "train/ranks/shared_parameters.h"

#include <algorithm>
#include <functional>

namespace cloze::train {

// A variable goes from rank to rank in slices, so that neither keeps a copy of it.
template <typename Body>
void SharedParameters::change_in_slices(const std::string& name, const Body& body) {
  const graph::Value variable = session_.value(name);
  const int64_t count = session_.graph().type(variable).shape.elements();
  std::vector<float> slice;
  for (int64_t begin = 0; begin < count; begin += comm::kSliceFloats) {
    slice.resize(static_cast<size_t>(std::min(comm::kSliceFloats, count - begin)));
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(slice));
    const int64_t offset = begin * int64_t{sizeof(float)};
    session_.executor().read_part(variable, offset, bytes);
    if (body(slice)) session_.executor().write_part(variable, offset, bytes);
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

#include "runtime/value_slices.h"

#include <algorithm>

namespace cloze::runtime {

ValueSlices::ValueSlices(Executor& executor, graph::Value value)
    : executor_(executor), value_(value) {}

bool ValueSlices::next() {
  offset_ += std::ssize(bytes_);
  const int64_t left = executor_.graph().type(value_).bytes() - offset_;
  bytes_.resize(static_cast<size_t>(std::min(kSliceBytes, left)));
  return left > 0;
}

int64_t ValueSlices::first() const {
  return offset_ / bytes_of(executor_.graph().type(value_).dtype);
}

}  // namespace cloze::runtime

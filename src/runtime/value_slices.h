// The slices of a value, one at a time, so that the host holds no copy of a large one.
//
//   for (ValueSlices slices(executor, value); slices.next();) use(slices.read<float>());
//   for (ValueSlices slices(executor, value); slices.next(); slices.write()) {
//     fill(slices.as<float>());
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/executor.h"

namespace cloze::runtime {

inline constexpr int64_t kSliceBytes = 1 << 18;

class ValueSlices {
 public:
  // The executor outlives it.
  ValueSlices(Executor& executor, graph::Value value);

  // Goes on to the next slice, the first one at first. False: there is none.
  bool next();
  // The index of its first element in the value.
  int64_t first() const;
  // The host's copy of it, in elements of the value's type.
  template <typename T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }
  // The same once it has been read.
  template <typename T>
  std::span<T> read() {
    executor_.read_part(value_, offset_, bytes_);
    return as<T>();
  }
  void write() { executor_.write_part(value_, offset_, bytes_); }

 private:
  Executor& executor_;
  graph::Value value_;
  int64_t offset_ = 0;  // bytes
  std::vector<std::byte> bytes_;
};

}  // namespace cloze::runtime

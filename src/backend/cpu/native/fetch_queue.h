// FetchQueue: memory that will be read soon but is too far away to wait for. The product that runs
// before (pair_product.h) brings it into the L2 cache, line by line while the units multiply, in
// the order in which it was added.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "backend/cpu/workspace.h"

namespace cloze::backend::cpu {

class FetchQueue {
 public:
  void add(const void* from, int64_t bytes) {
    const auto* begin = static_cast<const char*>(from);
    if (bytes > 0) ranges_.at(count_++) = {begin, begin + bytes};
  }

  bool is_empty() const { return first_ == count_; }

  // Where the next `count` lines begin; the queue must not be empty. The last ones may be beyond
  // what was added: fetching them does no harm.
  const char* take(int64_t count) {
    Range& range = ranges_[first_];
    const char* lines = range.begin;
    range.begin += count * kLineBytes;
    if (range.begin >= range.end) ++first_;
    return lines;
  }

 private:
  struct Range {
    const char* begin = nullptr;
    const char* end = nullptr;
  };

  std::array<Range, 3> ranges_;
  size_t count_ = 0;
  size_t first_ = 0;
};

}  // namespace cloze::backend::cpu

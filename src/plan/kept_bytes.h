// Sums the memory that kernels hold outside the planned arenas (backend/kernel.h). Memory that
// several kernels share counts once.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "backend/kernel.h"

namespace cloze::plan {

class KeptBytes {
 public:
  void add(const std::vector<backend::KeptMemory>& of_kernel) {
    for (const backend::KeptMemory& kept : of_kernel) {
      const bool is_known = !kept.shared_as.empty() && !shared_.insert(kept.shared_as).second;
      if (!is_known) bytes_ += kept.bytes;
    }
  }
  int64_t bytes() const { return bytes_; }

 private:
  std::set<std::string> shared_;
  int64_t bytes_ = 0;
};

}  // namespace cloze::plan

// GlobalMemory: the tensors that one launch may access, each with its bounds.
//
// Threads of a launch have no order among them, so none may access what another one writes, not
// even in its own block, whose barriers order shared memory.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "backend/gpu/emulation/findings.h"

namespace cloze::backend::gpu::emulation {

// A tensor, or a part of the workspace.
class Region {
 public:
  struct Extent {
    const void* begin = nullptr;
    int64_t elements = 0;
    size_t element_bytes = 0;
    bool is_writable = false;  // as the kernel's type of it says
  };
  Region(std::string name, const Extent& extent)
      : name_(std::move(name)),
        extent_(extent),
        element_shift_(std::countr_zero(extent.element_bytes)) {}

  // An access of `bytes` from element `first` on by a thread, whose number counts the threads of all
  // blocks. Says whether it may happen; what may not is a finding.
  bool note_load(int64_t first, size_t bytes, uint32_t thread, const Place& place,
                 Findings& findings) {
    if (!is_inside(first, bytes, place, findings)) return false;
    if (extent_.is_writable) note_reader(first, bytes, thread, place, findings);
    return true;
  }
  bool note_store(int64_t first, size_t bytes, uint32_t thread, const Place& place,
                  Findings& findings);
  // An access to some of the elements from `first` to `last` by what is no kernel of ours.
  bool note_span(int64_t first, int64_t last, const Place& place, Findings& findings) const;
  // Orders what comes after what was.
  void begin_launch() { touches_.clear(); }

 private:
  static constexpr uint32_t kNobody = 0xffffffffu;
  static constexpr uint32_t kSeveral = 0xfffffffeu;
  // The threads of a launch that accessed an element.
  struct Touch {
    uint32_t writer = kNobody;
    uint32_t reader = kNobody;
  };

  int64_t elements_in(size_t bytes) const { return static_cast<int64_t>(bytes >> element_shift_); }
  bool is_inside(int64_t first, size_t bytes, const Place& place, Findings& findings) const {
    const auto address = reinterpret_cast<uintptr_t>(extent_.begin) +
                         (static_cast<uintptr_t>(first) << element_shift_);
    // `bytes` is a power of two.
    if (first >= 0 && first + elements_in(bytes) <= extent_.elements &&
        (address & (bytes - 1)) == 0) {
      return true;
    }
    return note_outside(first, bytes, place, findings);
  }
  bool note_outside(int64_t first, size_t bytes, const Place& place, Findings& findings) const;
  void note_reader(int64_t first, size_t bytes, uint32_t thread, const Place& place,
                   Findings& findings);
  Touch& touch(int64_t element);

  std::string name_;
  Extent extent_;
  int element_shift_;
  std::vector<Touch> touches_;  // of a writable region, once it is accessed
};

class GlobalMemory {
 public:
  Region& add(std::string name, const Region::Extent& extent) {
    return regions_.emplace_back(std::move(name), extent);
  }
  void begin_launch() {
    for (Region& region : regions_) region.begin_launch();
  }

 private:
  std::deque<Region> regions_;
};

}  // namespace cloze::backend::gpu::emulation

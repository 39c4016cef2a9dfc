// SharedMemory: the shared memory of an emulated block, which knows who wrote and read each of its
// parts last.
//
// Two accesses to the same bytes, one of them a write, need an order: they are of one thread, or a
// barrier of the block, or of the warp when both are of one, lies between them. Whatever the
// schedule was, what lacks an order is found. Memory begins as NaN and counts as not written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/gpu/emulation/findings.h"

namespace cloze::backend::gpu::emulation {

inline constexpr int kWarpThreads = 32;

// A thread between two of its barriers.
struct Moment {
  int thread = 0;
  int block_barriers = 0;  // that the block has passed
  int warp_barriers = 0;   // that the thread's warp has passed
};

class SharedMemory {
 public:
  static constexpr size_t kAlignment = 1024;  // a swizzled box of the copy engine needs as much

  explicit SharedMemory(Findings& findings) : findings_(findings) {}

  void begin_block(size_t bytes);
  std::byte* data() { return start_; }

  // Says whether the memory may be accessed; what may not is a finding.
  bool note_read(const void* from, size_t bytes, const Moment& now, const Place& place) {
    if (!is_inside(from, bytes, place)) return false;
    visit_units(from, bytes, [&](Unit& unit) {
      if (unit.state != State::kWritten || !is_ordered(unit.write, now)) {
        note_wrong_read(unit, now, place);
      }
      record(unit.read, now);
    });
    return true;
  }
  bool note_write(const void* to, size_t bytes, const Moment& now, const Place& place);
  // A copy into it has begun: what is there is NaN until note_landed().
  bool note_copy(const void* to, size_t bytes, const Moment& now, const Place& place);
  void note_landed(const void* to, size_t bytes, const Moment& now, const Place& place);

 private:
  // The accesses of one kind to a unit.
  struct Touch {
    int thread = -1;  // the last one; -1: none
    int block_barriers = 0;
    int warp_barriers = 0;
    bool by_several = false;  // of the warp, between two of its barriers
    bool by_warps = false;    // several, between two barriers of the block
  };
  enum class State : uint8_t { kUnwritten, kInFlight, kWritten };
  struct Unit {
    Touch write, read;
    State state = State::kUnwritten;
  };
  static constexpr size_t kUnitBytes = 4;  // what shares a unit counts as the same

  static bool is_ordered(const Touch& before, const Moment& now) {
    if (before.thread < 0 || before.block_barriers != now.block_barriers) return true;
    if (before.by_warps || before.thread / kWarpThreads != now.thread / kWarpThreads) return false;
    if (before.warp_barriers != now.warp_barriers) return true;
    return before.thread == now.thread && !before.by_several;
  }
  static void record(Touch& touch, const Moment& now) {
    if (touch.thread < 0 || touch.block_barriers != now.block_barriers) {
      touch = {now.thread, now.block_barriers, now.warp_barriers, false, false};
      return;
    }
    const bool same_warp = touch.thread / kWarpThreads == now.thread / kWarpThreads;
    const bool same_moment = same_warp && touch.warp_barriers == now.warp_barriers;
    touch.by_warps |= !same_warp;
    touch.by_several = same_moment && (touch.by_several || touch.thread != now.thread);
    touch.thread = now.thread;
    touch.warp_barriers = now.warp_barriers;
  }
  // `bytes` is a power of two.
  bool is_inside(const void* at, size_t bytes, const Place& place) {
    const auto begin = static_cast<size_t>(static_cast<const std::byte*>(at) - start_);
    if (begin <= bytes_ - bytes && bytes <= bytes_ && (begin & (bytes - 1)) == 0) return true;
    return note_outside(at, bytes, place);
  }
  bool note_outside(const void* at, size_t bytes, const Place& place);
  void note_wrong_read(const Unit& unit, const Moment& now, const Place& place);
  template <typename Visit>
  void visit_units(const void* at, size_t bytes, const Visit& visit) {
    const auto begin = static_cast<size_t>(static_cast<const std::byte*>(at) - start_);
    const size_t end = (begin + bytes + kUnitBytes - 1) / kUnitBytes;
    for (size_t i = begin / kUnitBytes; i < end; ++i) visit(units_[i]);
  }
  void write(const void* to, size_t bytes, const Moment& now, const Place& place, State state);

  Findings& findings_;
  std::vector<std::byte> memory_;
  std::byte* start_ = nullptr;
  size_t bytes_ = 0;
  std::vector<Unit> units_;
};

}  // namespace cloze::backend::gpu::emulation

// Block: the threads of one block of a grid, emulated. Each is a fiber; it runs until it waits for
// others.
//
// Which thread goes on is drawn from a seed: warps have a random order of priority, which changes
// now and then, and the first warp with a thread that can run goes on. So one warp often gets far
// ahead of the others, as far as barriers let it. An even choice hardly ever does: it misses that a
// buffer is written while the others still read it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include "backend/gpu/emulation/access_counts.h"
#include "backend/gpu/emulation/fibers.h"
#include "backend/gpu/emulation/findings.h"
#include "backend/gpu/emulation/global_memory.h"
#include "backend/gpu/emulation/shared_memory.h"

namespace cloze::backend::gpu::emulation {

struct GridShape {
  int64_t blocks_x = 1, blocks_y = 1;
  int threads = kWarpThreads;  // of a block
  size_t shared_bytes = 0;
};

struct LaunchOptions {
  uint64_t seed = 0;
  AccessCounts* counts = nullptr;  // null: nothing is counted
};

class Block {
 public:
  static constexpr size_t kExchangedBytes = 16;
  using Slots = std::array<std::array<std::byte, kExchangedBytes>, kWarpThreads>;

  Block(const GridShape& shape, const LaunchOptions& options, Findings& findings);

  // Runs every thread to its end, unless they wait for ever: then it says so and returns false.
  bool run(int64_t x, int64_t y, const std::function<void()>& body);
  // The block whose thread calls this.
  static Block& running() { return *t_running; }

  // Everything below is called by the thread that runs.
  int thread() const { return fibers_.running(); }
  int64_t x() const { return x_; }
  int64_t y() const { return y_; }
  const GridShape& shape() const { return shape_; }
  std::byte* shared() { return shared_.data(); }

  void sync_block(const Place& place);
  // Orders the memory accesses of the warp's threads.
  void sync_warp(const Place& place);
  // Returns what each thread of the warp gives. Does not order memory, as a card's shuffles do not.
  const Slots& exchange(std::span<const std::byte> mine, const Place& place);

  // The accesses of the thread; false: they must not happen.
  bool load(Region* region, int64_t first, const void* from, size_t bytes, const Place& place) {
    if (options_.counts != nullptr) count(true, from, bytes, false);
    if (region == nullptr) return note_missing(place);
    return region->note_load(first, bytes, number(), place, findings_);
  }
  bool store(Region* region, int64_t first, const void* to, size_t bytes, const Place& place) {
    if (options_.counts != nullptr) count(true, to, bytes, true);
    if (region == nullptr) return note_missing(place);
    return region->note_store(first, bytes, number(), place, findings_);
  }
  bool load_shared(const void* from, size_t bytes, const Place& place) {
    if (options_.counts != nullptr) count(false, from, bytes, false);
    return shared_.note_read(from, bytes, now(), place);
  }
  bool store_shared(const void* to, size_t bytes, const Place& place) {
    if (options_.counts != nullptr) count(false, to, bytes, true);
    return shared_.note_write(to, bytes, now(), place);
  }

  // A copy into shared memory that others can go on beside; from null: zeros.
  void begin_copy(void* to, const void* from, size_t bytes, const Place& place);
  void commit_copies();
  // Until all but the last `pending` groups have landed.
  void wait_for_copies(size_t pending, const Place& place);

 private:
  struct Copy {
    void* to = nullptr;
    const void* from = nullptr;
    size_t bytes = 0;
    Place place;
  };
  struct Thread {
    bool is_waiting = false;
    Place waits_at;
    std::vector<Copy> open;  // not committed yet
    std::deque<std::vector<Copy>> groups;
  };
  // Where threads meet.
  struct Meeting {
    int arrived = 0;
    Place place;
  };
  struct Warp {
    Meeting meeting;
    int exchanges = 0;
    int barriers = 0;
    std::array<Slots, 2> slots;  // taken in turn: some may write the next while others read
    std::vector<int> runnable;
  };

  Thread& me() { return threads_[static_cast<size_t>(thread())]; }
  Warp& my_warp() { return warps_[static_cast<size_t>(thread() / kWarpThreads)]; }
  Moment now() { return {thread(), barriers_, my_warp().barriers}; }
  uint32_t number() const { return first_number_ + static_cast<uint32_t>(thread()); }
  void begin();
  int draw_thread();  // the next to go on; -1: none can
  void wait(const Place& place);
  void wake(int thread);
  // Notes that a thread has come to a meeting; true for the last one, who goes on.
  bool arrive(Meeting& meeting, int members, const Place& place);
  void meet_warp(const Place& place, bool orders_memory);
  void count(bool is_global, const void* at, size_t bytes, bool is_store);
  bool note_missing(const Place& place);
  void end_thread(int thread);
  void note_endless_wait();

  GridShape shape_;
  LaunchOptions options_;
  Findings& findings_;
  SharedMemory shared_;
  Fibers& fibers_;  // of this thread of the host: its stacks serve one block after the other
  std::mt19937_64 random_;
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::vector<int> priority_;  // of warps
  Meeting meeting_;
  int barriers_ = 0;
  int ended_ = 0;
  int64_t x_ = 0, y_ = 0;
  uint32_t first_number_ = 0;  // of its threads, among those of all blocks

  static constinit thread_local Block* t_running;
};

// Runs the body in every thread of a grid, block after block, in random order. InternalError for a
// shape that no card takes.
void run_grid(const GridShape& shape, const LaunchOptions& options, Findings& findings,
              const std::function<void()>& body);

}  // namespace cloze::backend::gpu::emulation

// AccessCounts: how the accesses of a warp's threads come together.
//
// A card moves global memory in sectors of 32 bytes and shared memory in passes over 32 banks of 4
// bytes. The k-th access of each thread of a warp, between two meetings of the warp, counts as one
// instruction. That holds while the threads go the same way, as those of our kernels do.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backend/gpu/emulation/shared_memory.h"

namespace cloze::backend::gpu::emulation {

struct AccessTotals {
  int64_t load_sectors = 0, least_load_sectors = 0;  // least: were all bytes neighbours
  int64_t store_sectors = 0, least_store_sectors = 0;
  int64_t shared_accesses = 0, shared_passes = 0;  // passes: as many when no banks collide
};

class AccessCounts {
 public:
  struct Access {
    uintptr_t address = 0;
    uint32_t bytes = 0;
    bool is_store = false;
  };

  // Accesses of one block after the other: one of its threads to either memory.
  void begin_block(int threads);
  void note_global(int thread, const Access& access) { of(global_, thread).push_back(access); }
  void note_shared(int thread, const Access& access) { of(shared_, thread).push_back(access); }
  // The threads of a warp have met.
  void close_warp(int warp);

  const AccessTotals& totals() const { return totals_; }

 private:
  using Accesses = std::vector<Access>;
  static Accesses& of(std::vector<Accesses>& lists, int thread) {
    return lists[static_cast<size_t>(thread)];
  }
  template <typename Count>
  void count_together(std::vector<Accesses>& lists, int warp, const Count& count);
  void count_sectors(const Accesses& together);
  void count_passes(const Accesses& together);

  std::vector<Accesses> global_, shared_;  // by thread
  AccessTotals totals_;
};

// Counts the accesses of all launches of this thread of the host from now on; null: of none.
void count_accesses(AccessCounts* counts);
AccessCounts* counted_accesses();

}  // namespace cloze::backend::gpu::emulation

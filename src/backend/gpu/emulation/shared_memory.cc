#include "backend/gpu/emulation/shared_memory.h"

#include <cstring>

#include "base/division.h"

namespace cloze::backend::gpu::emulation {

void SharedMemory::begin_block(size_t bytes) {
  bytes_ = bytes;
  memory_.resize(bytes + kAlignment);
  const auto address = reinterpret_cast<uintptr_t>(memory_.data());
  start_ = memory_.data() + (round_up(address, uintptr_t{kAlignment}) - address);
  std::memset(start_, 0xff, bytes);  // NaN as f32 and as bf16
  units_.assign(divide_up(bytes, kUnitBytes), {});
}

bool SharedMemory::is_inside(const void* at, size_t bytes, const Place& place) {
  const auto* const begin = static_cast<const std::byte*>(at);
  if (begin < start_ || begin + bytes > start_ + bytes_) {
    findings_.add(FindingKind::kOutOfBounds, place, "shared byte {} of {}", begin - start_, bytes_);
    return false;
  }
  if (static_cast<size_t>(begin - start_) % bytes != 0) {
    findings_.add(FindingKind::kUnaligned, place, "{} bytes at shared byte {}", bytes,
                  begin - start_);
    return false;
  }
  return true;
}

template <typename Visit>
void SharedMemory::visit_units(const void* at, size_t bytes, const Visit& visit) {
  const auto begin = static_cast<size_t>(static_cast<const std::byte*>(at) - start_);
  for (size_t i = begin / kUnitBytes; i < divide_up(begin + bytes, kUnitBytes); ++i) {
    visit(units_[i], i * kUnitBytes);
  }
}

bool SharedMemory::is_ordered(const Touch& before, const Moment& now) {
  if (before.thread < 0 || before.block_barriers != now.block_barriers) return true;
  if (before.by_warps || before.thread / kWarpThreads != now.thread / kWarpThreads) return false;
  if (before.warp_barriers != now.warp_barriers) return true;
  return before.thread == now.thread && !before.by_several;
}

void SharedMemory::record(Touch& touch, const Moment& now) {
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

bool SharedMemory::note_read(const void* from, size_t bytes, const Moment& now,
                             const Place& place) {
  if (!is_inside(from, bytes, place)) return false;
  visit_units(from, bytes, [&](Unit& unit, size_t at) {
    if (unit.state == State::kUnwritten) {
      findings_.add(FindingKind::kUninitialised, place,
                    "thread {} reads shared byte {}, which nobody has written", now.thread, at);
    } else if (unit.state == State::kInFlight) {
      findings_.add(FindingKind::kMissingWait, place,
                    "thread {} reads shared byte {}, whose copy thread {} has not waited for",
                    now.thread, at, unit.write.thread);
    } else if (!is_ordered(unit.write, now)) {
      findings_.add(FindingKind::kRace, place,
                    "thread {} reads shared byte {}, which thread {} writes, without a barrier",
                    now.thread, at, unit.write.thread);
    }
    record(unit.read, now);
  });
  return true;
}

void SharedMemory::write(const void* to, size_t bytes, const Moment& now, const Place& place,
                         State state) {
  visit_units(to, bytes, [&](Unit& unit, size_t at) {
    const bool after_read = is_ordered(unit.read, now);
    if (!after_read || !is_ordered(unit.write, now)) {
      findings_.add(FindingKind::kRace, place,
                    "thread {} writes shared byte {}, which thread {} {}, without a barrier",
                    now.thread, at, after_read ? unit.write.thread : unit.read.thread,
                    after_read ? "writes" : "reads");
    }
    record(unit.write, now);
    unit.state = state;
  });
}

bool SharedMemory::note_write(const void* to, size_t bytes, const Moment& now, const Place& place) {
  if (!is_inside(to, bytes, place)) return false;
  write(to, bytes, now, place, State::kWritten);
  return true;
}

bool SharedMemory::note_copy(const void* to, size_t bytes, const Moment& now, const Place& place) {
  if (!is_inside(to, bytes, place)) return false;
  write(to, bytes, now, place, State::kInFlight);
  std::memset(const_cast<void*>(to), 0xff, bytes);
  return true;
}

void SharedMemory::note_landed(const void* to, size_t bytes, const Moment& now,
                               const Place& place) {
  write(to, bytes, now, place, State::kWritten);
}

}  // namespace cloze::backend::gpu::emulation

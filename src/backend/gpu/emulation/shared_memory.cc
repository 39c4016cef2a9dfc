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

bool SharedMemory::note_outside(const void* at, size_t bytes, const Place& place) {
  const std::ptrdiff_t begin = static_cast<const std::byte*>(at) - start_;
  if (begin < 0 ||
      begin + static_cast<std::ptrdiff_t>(bytes) > static_cast<std::ptrdiff_t>(bytes_)) {
    findings_.add(FindingKind::kOutOfBounds, place, "shared byte {} of {}", begin, bytes_);
  } else {
    findings_.add(FindingKind::kUnaligned, place, "{} bytes at shared byte {}", bytes, begin);
  }
  return false;
}

void SharedMemory::note_wrong_read(const Unit& unit, const Moment& now, const Place& place) {
  const auto at = static_cast<size_t>(&unit - units_.data()) * kUnitBytes;
  if (unit.state == State::kUnwritten) {
    findings_.add(FindingKind::kUninitialised, place,
                  "thread {} reads shared byte {}, which nobody has written", now.thread, at);
  } else if (unit.state == State::kInFlight) {
    findings_.add(FindingKind::kMissingWait, place,
                  "thread {} reads shared byte {}, whose copy thread {} has not waited for",
                  now.thread, at, unit.write.thread);
  } else {
    findings_.add(FindingKind::kRace, place,
                  "thread {} reads shared byte {}, which thread {} writes, without a barrier",
                  now.thread, at, unit.write.thread);
  }
}

void SharedMemory::write(const void* to, size_t bytes, const Moment& now, const Place& place,
                         State state) {
  visit_units(to, bytes, [&](Unit& unit) {
    const bool after_read = is_ordered(unit.read, now);
    if (!after_read || !is_ordered(unit.write, now)) {
      const auto at = static_cast<size_t>(&unit - units_.data()) * kUnitBytes;
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

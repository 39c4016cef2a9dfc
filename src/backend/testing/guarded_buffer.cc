#include "backend/testing/guarded_buffer.h"

#include <algorithm>
#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(begin, bytes) static_cast<void>(begin)
#define ASAN_UNPOISON_MEMORY_REGION(begin, bytes) static_cast<void>(begin)
#endif

namespace cloze::backend::testing {

GuardedBuffer::GuardedBuffer(size_t bytes)
    : bytes_(bytes), memory_(new uint8_t[bytes + 2 * kGuardBytes + kAlignment]) {
  const auto address = reinterpret_cast<uintptr_t>(memory_.get());
  start_ = memory_.get() + (kAlignment - address % kAlignment) % kAlignment;
  std::memset(start_, kGuard, bytes_ + 2 * kGuardBytes);
  fill_with_nan();
  ASAN_POISON_MEMORY_REGION(start_, kGuardBytes);
  ASAN_POISON_MEMORY_REGION(start_ + kGuardBytes + bytes_, kGuardBytes);
}

GuardedBuffer::~GuardedBuffer() {
  if (memory_) ASAN_UNPOISON_MEMORY_REGION(start_, bytes_ + 2 * kGuardBytes);
}

void GuardedBuffer::fill_with_nan() { std::memset(data(), 0xFF, bytes_); }

bool GuardedBuffer::guards_are_intact() const {
  ASAN_UNPOISON_MEMORY_REGION(start_, bytes_ + 2 * kGuardBytes);
  const auto is_guard = [](uint8_t byte) { return byte == kGuard; };
  const uint8_t* behind = start_ + kGuardBytes + bytes_;
  return std::all_of(start_, start_ + kGuardBytes, is_guard) &&
         std::all_of(behind, behind + kGuardBytes, is_guard);
}

bool GuardedBuffer::same_bytes(const GuardedBuffer& other) const {
  return bytes_ == other.bytes_ && std::memcmp(data(), other.data(), bytes_) == 0;
}

}  // namespace cloze::backend::testing

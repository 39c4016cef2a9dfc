#include "backend/testing/guarded_buffer.h"

#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(begin, bytes) static_cast<void>(begin)
#define ASAN_UNPOISON_MEMORY_REGION(begin, bytes) static_cast<void>(begin)
#endif

namespace cloze::backend::testing {

GuardedBuffer::GuardedBuffer(size_t bytes, size_t guard_bytes)
    : bytes_(bytes),
      guard_bytes_(guard_bytes),
      memory_(new uint8_t[bytes + 2 * guard_bytes + kAlignment]) {
  const auto address = reinterpret_cast<uintptr_t>(memory_.get());
  start_ = memory_.get() + (kAlignment - address % kAlignment) % kAlignment;
  std::memset(start_, kGuard, bytes_ + 2 * guard_bytes_);
  fill_with_nan();
  ASAN_POISON_MEMORY_REGION(start_, guard_bytes_);
  ASAN_POISON_MEMORY_REGION(start_ + guard_bytes_ + bytes_, guard_bytes_);
}

GuardedBuffer::~GuardedBuffer() {
  if (memory_) ASAN_UNPOISON_MEMORY_REGION(start_, bytes_ + 2 * guard_bytes_);
}

std::span<std::byte> GuardedBuffer::guarded() {
  ASAN_UNPOISON_MEMORY_REGION(start_, bytes_ + 2 * guard_bytes_);
  return std::as_writable_bytes(std::span(start_, bytes_ + 2 * guard_bytes_));
}

void GuardedBuffer::fill_with_nan() { std::memset(data(), 0xFF, bytes_); }

bool GuardedBuffer::guards_are_intact() const {
  ASAN_UNPOISON_MEMORY_REGION(start_, bytes_ + 2 * guard_bytes_);
  const auto is_guard = [this](const uint8_t* strip) {
    return strip[0] == kGuard && std::memcmp(strip, strip + 1, guard_bytes_ - 1) == 0;
  };
  return is_guard(start_) && is_guard(start_ + guard_bytes_ + bytes_);
}

bool GuardedBuffer::same_bytes(const GuardedBuffer& other) const {
  return bytes_ == other.bytes_ && std::memcmp(data(), other.data(), bytes_) == 0;
}

}  // namespace cloze::backend::testing

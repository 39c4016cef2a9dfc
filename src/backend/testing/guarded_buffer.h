// GuardedBuffer: memory for one tensor, 64-byte aligned, between two strips of guard bytes that a
// kernel must not touch. A write there is detected afterwards; AddressSanitizer, where it is built
// in, stops any read or write there at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace cloze::backend::testing {

class GuardedBuffer {
 public:
  static constexpr size_t kNarrow = 128;     // bytes of a strip
  static constexpr size_t kWide = 64 << 10;  // for memory that extra rows would overrun by far

  explicit GuardedBuffer(size_t bytes, size_t guard_bytes = kNarrow);
  ~GuardedBuffer();
  GuardedBuffer(GuardedBuffer&&) = default;
  GuardedBuffer& operator=(GuardedBuffer&&) = delete;

  void* data() { return start_ + guard_bytes_; }
  const void* data() const { return start_ + guard_bytes_; }
  size_t bytes() const { return bytes_; }
  // The data with both strips, to be copied elsewhere and back; AddressSanitizer allows access to it from then on.
  std::span<std::byte> guarded();
  size_t guard_bytes() const { return guard_bytes_; }
  // Every float, bfloat16 or double read from this pattern is NaN.
  void fill_with_nan();
  bool guards_are_intact() const;  // makes AddressSanitizer allow access to them
  bool same_bytes(const GuardedBuffer& other) const;

 private:
  static constexpr size_t kAlignment = 64;
  static constexpr uint8_t kGuard = 0xA5;

  size_t bytes_;
  size_t guard_bytes_;
  std::unique_ptr<uint8_t[]> memory_;
  uint8_t* start_;  // aligned; guard, data, guard
};

}  // namespace cloze::backend::testing

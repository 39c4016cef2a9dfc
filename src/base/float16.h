// float16: IEEE half precision. Conversion rounds to nearest even; what exceeds 65504 by more than
// half a step becomes infinite; NaN stays NaN.
#pragma once

#include <bit>
#include <cstdint>

namespace cloze {

struct float16 {
  uint16_t bits = 0;

  float16() = default;
  explicit float16(float value) {
    const uint32_t word = std::bit_cast<uint32_t>(value);
    const uint32_t magnitude = word & 0x7fffffffu;
    bits = static_cast<uint16_t>(((word >> 16) & 0x8000u) | rounded(magnitude));
  }
  explicit operator float() const {
    const uint32_t sign = uint32_t{bits & 0x8000u} << 16;
    const uint32_t exponent = (bits >> 10) & 0x1fu;
    const uint32_t fraction = bits & 0x3ffu;
    if (exponent == 0) {  // zero or subnormal: fraction * 2^-24
      const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
      return sign != 0 ? -magnitude : magnitude;
    }
    const uint32_t wide_exponent = exponent == 0x1f ? 0xffu : exponent + (127 - 15);
    return std::bit_cast<float>(sign | wide_exponent << 23 | fraction << 13);
  }

 private:
  static uint32_t rounded(uint32_t magnitude) {
    constexpr uint32_t kInfinity = 0x7f800000u;
    constexpr uint32_t kTooLarge = 0x477ff000u;        // 65520: the middle of 65504 and 65536
    constexpr uint32_t kSmallestNormal = 0x38800000u;  // 2^-14
    if (magnitude > kInfinity) return 0x7e00u;
    if (magnitude >= kTooLarge) return 0x7c00u;
    if (magnitude < kSmallestNormal) {
      // The last place of 1/2 is 2^-24, a subnormal's: adding it rounds there.
      const float sum = std::bit_cast<float>(magnitude) + 0.5f;
      return std::bit_cast<uint32_t>(sum) - std::bit_cast<uint32_t>(0.5f);
    }
    const uint32_t even = (magnitude >> 13) & 1u;
    return (magnitude + 0xfffu + even - (uint32_t{127 - 15} << 23)) >> 13;
  }
};
static_assert(sizeof(float16) == 2);

}  // namespace cloze

#include "base/time_text.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace cloze {
namespace {

// 12.34 → "12.3", 123.4 → "123"; at most three decimals: 0.0042 → "0.004"
std::string three_digits(double number) {
  const int decimals = number >= 99.95 ? 0 : number >= 9.995 ? 1 : number >= 0.9995 ? 2 : 3;
  return fmt::format("{:.{}f}", number, decimals);
}

std::string two_units(int64_t count, int64_t per_large, const char* large, const char* small) {
  const std::string text = fmt::format("{} {}", count / per_large, large);
  const int64_t rest = count % per_large;
  return rest == 0 ? text : fmt::format("{} {} {}", text, rest, small);
}

}  // namespace

std::string time_text(double seconds) {
  if (!(seconds >= 0.0 && seconds < 1e15)) return "?";
  if (seconds == 0.0) return "0 s";
  if (seconds < 0.9995) return three_digits(1e3 * seconds) + " ms";
  if (seconds < 59.95) return three_digits(seconds) + " s";
  if (seconds < 3599.5) return two_units(std::llround(seconds), 60, "min", "s");
  if (seconds < 24 * 3600 - 30) return two_units(std::llround(seconds / 60), 60, "h", "min");
  return two_units(std::llround(seconds / 3600), 24, "d", "h");
}

}  // namespace cloze

#include "base/byte_size.h"

#include <charconv>
#include <system_error>
#include <utility>

namespace cloze {

std::optional<int64_t> byte_size(std::string_view text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40},
      {"KB", 1e3},     {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12}};
  double number = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const auto& [name, factor] : kUnits) {
    const double bytes = number * factor;
    if (unit == name && bytes >= 1.0 && bytes < 0x1p60) return static_cast<int64_t>(bytes);
  }
  return std::nullopt;
}

}  // namespace cloze

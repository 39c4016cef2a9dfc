#include "engine/devices.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "backend/cpu/backend.h"
#include "backend/cuda/cuda_device.h"
#include "backend/emulated/emulated_device.h"
#include "backend/late/late_device.h"
#include "backend/null/backend.h"
#include "backend/reference/backend.h"
#include "backend/walled/walled_device.h"
#include "base/error.h"

namespace cloze::engine {
namespace {

struct DeviceRow {
  std::string_view name;
  backend::Device& (*only)() = nullptr;
  backend::Device& (*numbered)(std::string_view number) = nullptr;
  bool is_for_tests = true;
};

constexpr std::array kTable{
    DeviceRow{.name = "cpu", .only = backend::cpu::device, .is_for_tests = false},
    DeviceRow{.name = "cuda", .numbered = backend::cuda::device, .is_for_tests = false},
    DeviceRow{.name = "reference", .only = backend::reference::device},
    DeviceRow{.name = "walled", .only = backend::walled::device},
    DeviceRow{.name = "late", .only = backend::late::device},
    DeviceRow{.name = "emulated", .only = backend::emulated::device},
    DeviceRow{.name = "null", .only = backend::null::device},
};

std::vector<std::string> names_of(bool are_for_tests) {
  std::vector<std::string> names;
  for (const DeviceRow& row : kTable) {
    if (row.is_for_tests == are_for_tests) names.emplace_back(row.name);
  }
  return names;
}

struct KindAndNumber {
  std::string_view kind, number;  // the number is empty without a colon
};
KindAndNumber split(std::string_view name) {
  const size_t colon = std::min(name.find(':'), name.size());
  return {name.substr(0, colon), name.substr(std::min(colon + 1, name.size()))};
}

}  // namespace

std::optional<Card> card_of(std::string_view device) {
  const auto [kind, number] = split(device);
  return kind == "cuda" ? backend::cuda::find_card(number) : std::nullopt;
}

backend::Device& device_named(std::string_view name) {
  const auto [kind, number] = split(name);
  const auto found = std::ranges::find(kTable, kind, &DeviceRow::name);
  if (found == kTable.end()) {
    throw_user_error("unknown device {}; choose {}", name, fmt::join(device_names(), ", "));
  }
  if (found->numbered) return found->numbered(number);
  if (kind != name) throw_user_error("there is only one device {0}: give {0}, not {1}", kind, name);
  return found->only();
}

std::vector<std::string> device_names() { return names_of(false); }

std::vector<std::string> test_device_names() { return names_of(true); }

}  // namespace cloze::engine

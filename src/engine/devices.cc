#include "engine/devices.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "backend/cpu/backend.h"
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
  backend::Device& (*device)();
  bool is_for_tests = true;
};

constexpr std::array kTable{
    DeviceRow{"cpu", backend::cpu::device, false},
    DeviceRow{"reference", backend::reference::device},
    DeviceRow{"walled", backend::walled::device},
    DeviceRow{"late", backend::late::device},
    DeviceRow{"emulated", backend::emulated::device},
    DeviceRow{"null", backend::null::device},
};

std::vector<std::string> names_of(bool are_for_tests) {
  std::vector<std::string> names;
  for (const DeviceRow& row : kTable) {
    if (row.is_for_tests == are_for_tests) names.emplace_back(row.name);
  }
  return names;
}

}  // namespace

backend::Device& device_named(std::string_view name) {
  const std::string_view kind = name.substr(0, name.find(':'));
  const auto found = std::ranges::find(kTable, kind, &DeviceRow::name);
  if (found == kTable.end()) {
    throw_user_error("unknown device {}; choose {}", name, fmt::join(device_names(), ", "));
  }
  if (kind != name) throw_user_error("there is only one device {0}: give {0}, not {1}", kind, name);
  return found->device();
}

std::vector<std::string> device_names() { return names_of(false); }

std::vector<std::string> test_device_names() { return names_of(true); }

}  // namespace cloze::engine

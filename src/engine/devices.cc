#include "engine/devices.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "backend/cpu/backend.h"
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
};

constexpr std::array kTable{
    DeviceRow{"cpu", backend::cpu::device},
    DeviceRow{"reference", backend::reference::device},
    DeviceRow{"walled", backend::walled::device},
    DeviceRow{"late", backend::late::device},
    DeviceRow{"null", backend::null::device},
};

}  // namespace

backend::Device& device_named(std::string_view name) {
  const auto found = std::ranges::find(kTable, name, &DeviceRow::name);
  if (found == kTable.end()) {
    throw_user_error("unknown device {}; choose {}", name, fmt::join(device_names(), ", "));
  }
  return found->device();
}

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  for (const DeviceRow& row : kTable) names.emplace_back(row.name);
  return names;
}

}  // namespace cloze::engine

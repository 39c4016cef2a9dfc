#include "configuration/import.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace cloze::configuration {
namespace {

int64_t known_keys(const ForeignSystem& system, const ForeignFile& file) {
  return std::count_if(file.values.begin(), file.values.end(),
                       [&](const auto& entry) { return system.find(entry.first, "") != nullptr; });
}

}  // namespace

const ForeignSystem& recognised_system(const ForeignFile& file) {
  const auto& systems = foreign_systems();
  const auto best = std::max_element(
      systems.begin(), systems.end(),
      [&](const auto* a, const auto* b) { return known_keys(*a, file) < known_keys(*b, file); });
  if (known_keys(**best, file) > 0) return **best;
  std::vector<std::string> names;
  for (const ForeignSystem* system : systems) names.push_back(system->name);
  throw_user_error("no key of it is known to any of {}", fmt::join(names, ", "));
}

const ForeignSystem& system_named(const std::string& id) {
  const auto& systems = foreign_systems();
  const auto found = std::find_if(systems.begin(), systems.end(),
                                  [&](const ForeignSystem* system) { return system->id == id; });
  if (found == systems.end()) throw_user_error("no system is called {}", id);
  return **found;
}

Conversion converted(const ForeignSystem& system, const ForeignFile& file) {
  Conversion conversion(system, file);
  conversion.finish();
  return conversion;
}

}  // namespace cloze::configuration

#include "configuration/import.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "formats/json.h"
#include "platform/file.h"

namespace cloze::configuration {
namespace {

int64_t known_keys(const ForeignSystem& system, const ForeignFile& file) {
  return std::count_if(file.values.begin(), file.values.end(),
                       [&](const auto& entry) { return system.find(entry.first, "") != nullptr; });
}

// Of a system whose keys are no options here.
bool has_mark(const nlohmann::json& config) {
  return std::ranges::any_of(foreign_systems(), [&](const ForeignSystem* system) {
    return system != &tensorflow1() &&
           std::ranges::any_of(system->marks, [&](auto& mark) { return config.contains(mark); });
  });
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

std::optional<ForeignFile> read_foreign_form(std::string_view comma_list) {
  const bool is_list = comma_list.find(',') != std::string_view::npos;
  const std::filesystem::path path = comma_list;
  const bool is_json = !is_list && path.extension() != ".yaml" && path.extension() != ".yml" &&
                       path.extension() != ".sh";
  if (is_json) {
    const auto config = formats::parse_json(platform::read_file(path));
    if (!config || !has_mark(*config)) return std::nullopt;
  }
  std::vector<std::filesystem::path> paths = {path};
  if (is_list) paths = platform::expand_paths(comma_list);
  return read_foreign_files(paths);
}

std::string summary(const ForeignSystem& system, const Conversion& conversion) {
  std::vector<std::string> taken, idle;
  for (const std::string& option : conversion.defaults()) {
    taken.push_back(option + " " + formats::json_line(conversion.options().at(option)));
  }
  for (const auto& [key, sentence] : conversion.sentences()) {
    if (sentence.starts_with("no effect")) idle.push_back(key);
  }
  return fmt::format(
      "a configuration of {}; this run takes that system's {}; no effect here: {}; cloze config "
      "import tells what becomes of each key",
      system.name, fmt::join(taken, ", "), fmt::join(idle, ", "));
}

}  // namespace cloze::configuration

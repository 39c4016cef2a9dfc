#include "formats/value_differences.h"

#include <fmt/format.h>

#include <vector>

#include "formats/json.h"

namespace cloze::formats {

std::string value_differences(const nlohmann::json& stored, const nlohmann::json& current,
                              std::string_view word) {
  std::vector<std::string> differences;
  for (const auto& [name, value] : current.items()) {
    const auto found = stored.find(name);
    if (found == stored.end() || *found == value) continue;
    differences.push_back(
        fmt::format("{} {}, {} {}", name, json_line(*found), word, json_line(value)));
  }
  return fmt::format("{}", fmt::join(differences, "; "));
}

}  // namespace cloze::formats

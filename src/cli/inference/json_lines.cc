#include "cli/inference/json_lines.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "formats/json.h"
#include "platform/file.h"
#include "text/ascii.h"

namespace cloze::cli {

std::vector<nlohmann::json> read_json_lines(const std::filesystem::path& path,
                                            const std::vector<std::string>& texts) {
  std::vector<nlohmann::json> items;
  const std::string content = platform::read_file(path);
  std::string_view rest = content;
  for (int64_t line = 1; !rest.empty(); ++line) {
    auto item = formats::parse_json(text::take_line(rest));
    const auto is_there = [&](const std::string& name) {
      return item->contains(name) && item->at(name).is_string();
    };
    if (!item || !item->is_object() || !std::all_of(texts.begin(), texts.end(), is_there)) {
      throw_data_error("{}:{} is not a JSON object with the texts {}", path.string(), line,
                       fmt::join(texts, ", "));
    }
    items.push_back(*std::move(item));
  }
  if (items.empty()) throw_user_error("{} is empty", path.string());
  return items;
}

}  // namespace cloze::cli

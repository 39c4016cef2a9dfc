#include "cli/inference/json_lines.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "formats/json.h"
#include "platform/file.h"
#include "text/ascii.h"

namespace cloze::cli {

std::vector<nlohmann::json> read_json_lines(const std::filesystem::path& path,
                                            const std::vector<std::string>& texts,
                                            const std::vector<std::string>& optional_texts) {
  std::vector<nlohmann::json> items;
  const std::string content = platform::read_file(path);
  std::string_view rest = content;
  for (int64_t line = 1; !rest.empty(); ++line) {
    auto item = formats::parse_json(text::take_line(rest));
    const auto is_there = [&](const std::string& name) {
      return item->contains(name) && item->at(name).is_string();
    };
    const auto is_right = [&](const std::string& name) {
      return !item->contains(name) || is_there(name);
    };
    if (!item) throw_data_error("{}:{}: {}", path.string(), line, item.error().message);
    if (!item->is_object() || !std::ranges::all_of(texts, is_there)) {
      throw_data_error("{}:{} is not a JSON object with the texts {}", path.string(), line,
                       fmt::join(texts, ", "));
    }
    if (!std::ranges::all_of(optional_texts, is_right)) {
      throw_data_error("{}:{}: {} must be a text", path.string(), line,
                       fmt::join(optional_texts, ", "));
    }
    items.push_back(*std::move(item));
  }
  if (items.empty()) throw_user_error("{} is empty", path.string());
  return items;
}

}  // namespace cloze::cli

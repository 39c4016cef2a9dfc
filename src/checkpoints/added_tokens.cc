#include "checkpoints/added_tokens.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/whole_number.h"
#include "checkpoints/hugging_face_tokenizer.h"
#include "formats/json.h"

namespace cloze::checkpoints {
namespace {

namespace fs = std::filesystem;
using formats::Json;

std::string content_of(const Json& token) {
  return token.is_object() ? token.value("content", Json()).dump() : token.dump();
}

}  // namespace

std::map<int64_t, std::string> added_tokens_in(const fs::path& folder, int64_t first_id) {
  std::map<int64_t, std::string> tokens;
  const Json beside = object_in(folder / "added_tokens.json");
  for (const auto& [token, id] : beside.items()) {
    if (id.is_number_integer()) tokens.emplace(id.get<int64_t>(), Json(token).dump());
  }
  const Json config = object_in(folder / "tokenizer_config.json");
  const Json decoder = config.value("added_tokens_decoder", Json::object());
  for (const auto& [id, token] : decoder.items()) {
    if (const auto number = number_in<int64_t>(id)) tokens.emplace(*number, content_of(token));
  }
  tokens.erase(tokens.begin(), tokens.lower_bound(first_id));
  return tokens;
}

std::vector<std::string> notes_on(const std::map<int64_t, std::string>& added_tokens,
                                  const fs::path& folder) {
  std::vector<std::string> notes;
  for (const auto& [id, token] : added_tokens) {
    notes.push_back(fmt::format("{}: added token {} (id {}) is cut like any other text",
                                folder.string(), token, id));
  }
  return notes;
}

}  // namespace cloze::checkpoints

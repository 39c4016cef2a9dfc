#include "text/decoding.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace cloze::text {
namespace {

// Says whether a token follows what is before it without a space.
bool is_attached(std::string_view token) {
  constexpr std::string_view kStarts[] = {".", "?", "!", ",", "n't", "'m", "'s", "'ve", "'re"};
  return std::ranges::any_of(kStarts,
                             [&](std::string_view start) { return token.starts_with(start); });
}

void append_token(std::string_view token, std::string& text) {
  if (token.starts_with(kContinuation)) {
    text += token.substr(kContinuation.size());
    return;
  }
  if (!is_attached(token)) text += ' ';
  text += token;
}

}  // namespace

bool is_special(int32_t id, const Vocabulary& vocabulary) {
  const std::array special = {vocabulary.pad_id(), vocabulary.unknown_id(), vocabulary.cls_id(),
                              vocabulary.sep_id(), vocabulary.mask_id()};
  return std::ranges::find(special, id) != special.end();
}

std::string decoded_text(std::span<const int32_t> ids, const Vocabulary& vocabulary,
                         bool skips_special) {
  std::string text;
  bool is_first = true;
  for (const int32_t id : ids) {
    if (skips_special && is_special(id, vocabulary)) continue;
    if (is_first) {
      text += vocabulary.token(id);
    } else {
      append_token(vocabulary.token(id), text);
    }
    is_first = false;
  }
  return text;
}

}  // namespace cloze::text

#include "cli/console/spelling.h"

#include <algorithm>
#include <utility>

namespace cloze::cli {
namespace {

constexpr std::string_view kLettersOfNames =
    "abcdefghijklmnopqrstuvwxyz0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ";

Spelling& current() {
  static Spelling spelling;
  return spelling;
}

// Parts of paths, flags and quoted texts are no names.
bool stands_alone(std::string_view before, std::string_view after) {
  constexpr std::string_view kBefore = " (\n", kAfter = " ,;:)\n";
  return (before.empty() || kBefore.find(before.back()) != kBefore.npos) &&
         (after.empty() || kAfter.find(after.front()) != kAfter.npos);
}

}  // namespace

void set_spelling(Spelling spelling) { current() = std::move(spelling); }

std::string spelled(const std::string& text) {
  if (!current()) return text;
  std::string result;
  const std::string_view all = text;
  for (size_t at = 0; at < all.size();) {
    const size_t begin = std::min(all.find_first_of(kLettersOfNames, at), all.size());
    const size_t end = std::min(all.find_first_not_of(kLettersOfNames, begin), all.size());
    const std::string_view word = all.substr(begin, end - begin);
    result += all.substr(at, begin - at);
    const bool is_marked = result.ends_with('`') && all.substr(end).starts_with('`');
    const bool may_be_name = is_marked || (word.find('_') != word.npos &&
                                           stands_alone(all.substr(0, begin), all.substr(end)));
    const auto name = may_be_name ? current()(word) : std::nullopt;
    if (name && is_marked) result.pop_back();
    result += name ? *name : std::string(word);
    at = name && is_marked ? end + 1 : end;
  }
  return result;
}

}  // namespace cloze::cli

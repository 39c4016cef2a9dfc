#include "configuration/key_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "formats/json.h"

namespace cloze::configuration {
namespace {

std::string_view word_of(Fate fate) {
  constexpr std::string_view kWords[] = {"supported", "mapped", "no effect", "planned"};
  return kWords[static_cast<size_t>(fate)];
}

std::string in_code(std::string_view name) { return fmt::format("`{}`", name); }

std::string note_of(const KeyRule& rule) {
  const bool is_renamed = !rule.option.empty() && rule.option != rule.key;
  if (!is_renamed) return rule.note;
  if (rule.note.empty() && rule.key.ends_with("." + rule.option)) return "the name after the dot";
  return rule.note.empty() ? in_code(rule.option)
                           : fmt::format("{}; {}", in_code(rule.option), rule.note);
}

bool share_row(const KeyRule& a, const KeyRule& b) {
  return a.fate == b.fate && note_of(a) == note_of(b);
}

std::string table_of(const std::vector<KeyRule>& rules) {
  std::string text = "| option | here | note |\n| --- | --- | --- |\n";
  for (auto first = rules.begin(); first != rules.end();) {
    const auto end = std::find_if_not(first, rules.end(),
                                      [&](const KeyRule& rule) { return share_row(*first, rule); });
    std::vector<std::string> keys;
    std::transform(first, end, std::back_inserter(keys),
                   [](const KeyRule& rule) { return in_code(rule.key); });
    const std::string note = note_of(*first);
    text += fmt::format("| {} | {} |{} |\n", fmt::join(keys, ", "), word_of(first->fate),
                        note.empty() ? "" : " " + note);
    first = end;
  }
  return text;
}

std::string marks_of(const ForeignSystem& system) {
  if (system.marks.empty()) return "";
  std::vector<std::string> marks;
  std::transform(system.marks.begin(), system.marks.end(), std::back_inserter(marks), in_code);
  return fmt::format("\n| keys that tell a file of this system |\n| --- |\n| {} |\n",
                     fmt::join(marks, ", "));
}

std::string defaults_of(const ForeignSystem& system) {
  if (system.defaults.empty()) return "";
  std::vector<std::string> defaults;
  for (const auto& [option, value] : system.defaults.items()) {
    defaults.push_back(fmt::format("`{} {}`", option, formats::json_line(value)));
  }
  return fmt::format("\n| where a file leaves them out |\n| --- |\n| {} |\n",
                     fmt::join(defaults, ", "));
}

}  // namespace

std::string key_document(const ForeignSystem& system) {
  std::string text;
  for (const KeyGroup& group : system.groups) {
    text += fmt::format("{}## {}\n\n{}", text.empty() ? "" : "\n", group.heading,
                        table_of(group.rules));
    if (&group == &system.groups.front()) text += marks_of(system) + defaults_of(system);
  }
  return text;
}

}  // namespace cloze::configuration

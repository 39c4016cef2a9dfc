#include "configuration/system_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/error.h"
#include "configuration/command_line.h"
#include "configuration/statement.h"
#include "formats/yaml.h"

namespace cloze::configuration {
namespace {

using formats::Json;
using formats::JsonMember;
using Words = std::vector<std::string>;

[[noreturn]] void fail(const std::string& fault) { throw std::runtime_error(fault); }

struct FateWord {
  std::string_view word;
  Fate fate;
  const char* reason;  // the word that the reason has
  bool is_missing = false;
};
constexpr FateWord kFateWords[] = {{"supported", Fate::kSupported, ""},
                                   {"renamed", Fate::kMapped, "note"},
                                   {"noted", Fate::kMapped, "note"},
                                   {"ignored", Fate::kNoEffect, "because"},
                                   {"refused", Fate::kMapped, "because", true},
                                   {"planned", Fate::kPlanned, "because", true}};

void add_rules(const Json& row, std::vector<KeyRule>& rules) {
  const auto& [name, keys] = row.items().front();
  const auto* word = std::ranges::find(kFateWords, name, &FateWord::word);
  if (word == std::end(kFateWords)) fail("no word for what becomes of a key is " + name);
  for (const JsonMember& member : row.items().subspan(1)) {
    if (member.name != word->reason && member.name != "as_here") {
      fail(fmt::format("{} beside {} has no meaning", member.name, name));
    }
  }
  KeyRule rule{.key = "",
               .fate = word->fate,
               .option = "",
               .note = row.value(word->reason, ""),
               .agreeing = row.value("as_here", Json()),
               .is_missing = word->is_missing};
  const auto add = [&](const std::string& key, const std::string& option) {
    if (std::ranges::count(rules, key, &KeyRule::key) > 0) fail(key + " has another rule");
    if (option.empty() && rule.note.empty()) {
      fail(fmt::format("{} has no reason; add {}: TEXT", key, word->reason));
    }
    rule.key = key;
    rule.option = option;
    rules.push_back(rule);
  };
  if (name == "renamed") {
    for (const auto& [key, option] : keys.items()) add(key, option.get<std::string>());
  } else {
    for (const auto& key : keys.get<Words>()) add(key, name == "supported" ? key : "");
  }
}

class Reader {
 public:
  Reader(const std::string& file, const Json& document, const Computations& computations)
      : file_(file), document_(document) {
    system_.computations = computations;
  }

  ForeignSystem read() {
    guard("", [&] { read_words(); });
    for (const Json& group : document_.at("groups")) {
      guard("a group: ", [&] {
        system_.groups.push_back({group.at("heading").get<std::string>(), group.value("task", "")});
        read_rows(group.at("rules"), system_.groups.back().rules);
      });
    }
    for (const Json& statement : document_.at("statements")) {
      guard(formats::json_line(statement) + ": ", [&] {
        if (const std::string fault = fault_of(statement, system_); !fault.empty()) fail(fault);
      });
      system_.statements.push_back(statement);
    }
    guard("", [&] { require_named_computations(); });
    return std::move(system_);
  }

 private:
  // Ends with the file and the place for what `read` finds wrong.
  template <typename Read>
  void guard(const std::string& place, const Read& read) const {
    try {
      read();
    } catch (const std::runtime_error& error) {
      throw InternalError(fmt::format("{}: {}{}", file_, place, error.what()));
    }
  }

  void read_words() {
    constexpr std::string_view kWords[] = {"id",     "name",   "marks",     "defaults", "meanings",
                                           "groups", "shared", "constants", "statements"};
    for (const JsonMember& member : document_.items()) {
      if (std::ranges::count(kWords, member.name) == 0) fail(member.name + " has no meaning");
    }
    system_.id = document_.at("id").get<std::string>();
    system_.name = document_.at("name").get<std::string>();
    system_.marks = document_.value("marks", Words());
    system_.defaults = document_.value("defaults", Json::object());
    system_.constants = document_.value("constants", Json::object());
    const Json meanings = document_.value("meanings", Json());
    for (const auto& [option, names] : meanings.items()) {
      for (const auto& [there, here] : names.items()) {
        system_.meanings.push_back({option, word_value(there), here});
      }
    }
    for (const char* part : {"groups", "statements"}) document_.at(part).get<Json::Array>();
  }

  void read_rows(const Json& rows, std::vector<KeyRule>& rules) const {
    for (const Json& row : rows) {
      if (row.empty()) fail("an empty rule");
      const JsonMember& first = row.items().front();
      if (first.name == "shared") {
        read_rows(document_.at("shared").at(first.value.get<std::string>()), rules);
      } else {
        guard(fmt::format("{} {}: ", first.name, formats::json_line(first.value)),
              [&] { add_rules(row, rules); });
      }
    }
  }

  void require_named_computations() const {
    for (const auto& [name, run] : system_.computations.by_name) {
      const bool is_named = std::ranges::any_of(system_.statements, [&](const Json& statement) {
        return statement.value("compute", "") == name;
      });
      if (!is_named) fail("no statement names the computation " + name);
    }
  }

  const std::string& file_;
  const Json& document_;
  ForeignSystem system_;
};

}  // namespace

ForeignSystem read_system(const std::string& file, std::string_view text,
                          const Computations& computations) {
  const auto document = formats::parse_yaml(text);
  if (!document) throw InternalError(formats::message_at(file, text, document.error()));
  return Reader(file, *document, computations).read();
}

}  // namespace cloze::configuration

#include "configuration/statement.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

namespace cloze::configuration {
namespace {

using formats::Json;
using formats::JsonMember;
using Words = std::vector<std::string>;

// The members of a part of a statement; none where it has no such part.
std::span<const JsonMember> members(const Json& statement, const char* part) {
  const Json* found = statement.find(part);
  return found == nullptr ? std::span<const JsonMember>() : found->items();
}

// One text, or a list of them.
Words words_of(const Json& value) {
  return value.is_array() ? value.get<Words>() : Words{value.get<std::string>()};
}

Words words(const Json& statement, const char* part) {
  const Json* found = statement.find(part);
  return found == nullptr ? Words() : words_of(*found);
}

bool applies(const Json& statement, const Conversion& c) {
  const auto has = [&](const std::string& key) { return c.has(key); };
  const auto matches = [&](const JsonMember& one) {
    const Json& value = c.value(one.name);
    if (!one.value.is_array()) return one.value == value;
    return std::find(one.value.begin(), one.value.end(), value) != one.value.end();
  };
  const Words tasks = words(statement, "task");
  return (tasks.empty() || std::ranges::find(tasks, c.task()) != tasks.end()) &&
         std::ranges::all_of(members(statement, "when"), matches) &&
         (!statement.contains("any") || std::ranges::any_of(members(statement, "any"), matches)) &&
         std::ranges::none_of(members(statement, "unless"), matches) &&
         std::ranges::all_of(words(statement, "given"), has) &&
         std::ranges::none_of(words(statement, "left_out"), has);
}

void take(const JsonMember& member, const std::string& how, Conversion& c) {
  const std::string key = c.first_of(words_of(member.value));
  if (key.empty()) return;
  c.set(member.name, c.system().meant(member.name, c.value(key)), {key}, how);
}

void negate(const JsonMember& member, Conversion& c) {
  const auto key = member.value.get<std::string>();
  if (c.has(key)) c.set(member.name, c.value(key) != true, {key});
}

// The content of a part of a statement, and where it has keys of the system: kListed is a list of
// them, kSentences and kValues have them as names, kSources as values.
enum class Kind { kText, kWords, kOptions, kListed, kSentences, kValues, kSources };

struct Part {
  std::string_view name;
  Kind kind;
};
constexpr Part kParts[] = {
    {"task", Kind::kWords},     {"when", Kind::kValues},    {"any", Kind::kValues},
    {"unless", Kind::kValues},  {"given", Kind::kListed},   {"left_out", Kind::kListed},
    {"take", Kind::kSources},   {"set", Kind::kOptions},    {"from", Kind::kListed},
    {"negate", Kind::kSources}, {"how", Kind::kText},       {"default", Kind::kOptions},
    {"because", Kind::kText},   {"say", Kind::kSentences},  {"refuse", Kind::kSentences},
    {"compute", Kind::kWords},
};

// The keys in a part; JsonError when it holds something else.
Words keys_in(const Json& part, Kind kind) {
  if (kind == Kind::kText) return part.get<std::string>(), Words();
  if (kind == Kind::kWords || kind == Kind::kListed) {
    const Words listed = words_of(part);
    return kind == Kind::kListed ? listed : Words();
  }
  Words keys;
  for (const auto& [name, value] : part.items()) {
    if (kind == Kind::kSentences) value.get<std::string>();
    if (kind == Kind::kSources) std::ranges::copy(words_of(value), std::back_inserter(keys));
    if (kind == Kind::kSentences || kind == Kind::kValues) keys.push_back(name);
  }
  return keys;
}

}  // namespace

void follow(const Json& statement, Conversion& c) {
  if (!applies(statement, c)) return;
  const std::string how = statement.value("how", "");
  for (const JsonMember& member : members(statement, "take")) take(member, how, c);
  for (const auto& [option, value] : members(statement, "set")) {
    c.set(option, value, words(statement, "from"), how);
  }
  for (const JsonMember& member : members(statement, "negate")) negate(member, c);
  for (const auto& [option, value] : members(statement, "default")) {
    c.set_default(option, value, statement.value("because", ""));
  }
  for (const auto& [key, sentence] : members(statement, "say")) {
    c.say(key, sentence.get<std::string>());
  }
  for (const auto& [key, sentence] : members(statement, "refuse")) {
    c.refuse(key, sentence.get<std::string>());
  }
  for (const std::string& name : words(statement, "compute")) {
    c.system().computations.by_name.at(name)(c);
  }
}

std::string fault_of(const Json& statement, const ForeignSystem& system) {
  for (const auto& [word, value] : statement.items()) {
    const auto* part = std::ranges::find(kParts, word, &Part::name);
    if (part == std::end(kParts)) return "no word of a statement is " + word;
    for (const std::string& key : keys_in(value, part->kind)) {
      if (system.find(key, "") == nullptr) return "no key of its rules is called " + key;
    }
  }
  for (const std::string& name : words(statement, "compute")) {
    if (!system.computations.by_name.contains(name)) return "no computation is called " + name;
  }
  return "";
}

}  // namespace cloze::configuration

#include "cli/options/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "base/error.h"
#include "cli/options/option_value.h"

namespace cloze::cli {
namespace {

bool is_option(const std::string& word) { return word.starts_with("--") && word.size() > 2; }

std::string name_of(const std::string& word) { return word.substr(0, word.find('=')); }

std::vector<std::string> subcommand_names(CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* one : command.get_subcommands([](CLI::App*) { return true; })) {
    names.push_back(one->get_name());
  }
  return names;
}

// "cloze data"
std::string full_name(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : full_name(*parent) + " " + command.get_name();
}

// The command that the first words name; they are taken off.
CLI::App& take_command(CLI::App& program, std::vector<std::string>& words) {
  CLI::App* command = &program;
  while (!words.empty() && !words.front().starts_with("-")) {
    const std::vector<std::string> known = subcommand_names(*command);
    if (known.empty()) break;
    if (std::find(known.begin(), known.end(), words.front()) == known.end()) {
      const std::string hint = nearest_hint(words.front(), known);
      throw_user_error("{} has no command \"{}\"{}", full_name(*command), words.front(),
                       hint.empty() ? fmt::format("; it has {}", fmt::join(known, ", ")) : hint);
    }
    command = command->get_subcommand(words.front());
    words.erase(words.begin());
  }
  return *command;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// The option's value as written, and how many more words it takes.
struct Occurrence {
  std::string value;
  size_t more_words = 0;
};

Occurrence occurrence_of(const CLI::Option& option, const std::vector<std::string>& words,
                         size_t at) {
  const size_t equals = words[at].find('=');
  if (equals != std::string::npos) return {.value = words[at].substr(equals + 1)};
  const bool has_next = at + 1 < words.size();
  const bool takes_next =
      has_next && (option.get_items_expected_min() > 0 ||
                   (option.get_items_expected_max() > 0 && !is_option(words[at + 1])));
  if (!takes_next) return {.value = "true"};
  return {.value = words[at + 1], .more_words = 1};
}

void check_options(const CLI::App& command, const std::vector<std::string>& words) {
  std::map<std::string, std::string> values;
  for (size_t i = 0; i < words.size(); ++i) {
    if (!is_option(words[i])) continue;
    const std::string name = name_of(words[i]);
    const CLI::Option* option = command.get_option_no_throw(name);
    if (option == nullptr) {
      const std::string hint = nearest_hint(name, option_names(command));
      throw_user_error(
          "unknown option {}{}", name,
          hint.empty() ? fmt::format("; {} --help-all lists all", full_name(command)) : hint);
    }
    const Occurrence here = occurrence_of(*option, words, i);
    i += here.more_words;
    const bool may_repeat = option->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
    if (may_repeat) continue;
    const auto [first, is_new] = values.try_emplace(name, here.value);
    if (!is_new) {
      throw_user_error("{} is given twice, as \"{}\" and as \"{}\"; give it once", name,
                       first->second, here.value);
    }
  }
}

}  // namespace

std::vector<std::string> command_line_words(int argc, const char* const* argv) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (!is_option(word)) {
      words.push_back(std::move(word));
      continue;
    }
    const size_t name_end = std::min(word.find('='), word.size());
    std::replace(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(name_end), '_', '-');
    const bool has_empty_value = name_end + 1 == word.size();
    words.push_back(has_empty_value ? word.substr(0, name_end) : std::move(word));
    if (has_empty_value) words.emplace_back();
  }
  return words;
}

void check_words(CLI::App& program, const std::vector<std::string>& words) {
  std::vector<std::string> rest = words;
  const CLI::App& command = take_command(program, rest);
  check_options(command, rest);
}

std::vector<std::string> with_bare_switches(CLI::App& program, std::vector<std::string> words) {
  std::vector<std::string> rest = words;
  const CLI::App& command = take_command(program, rest);
  const auto options = command.get_options();
  const bool takes_words =
      std::ranges::any_of(options, [](const CLI::Option* one) { return one->get_positional(); });
  if (!takes_words) return words;
  for (size_t i = words.size() - rest.size(); i + 1 < words.size(); ++i) {
    const CLI::Option* option =
        is_option(words[i]) ? command.get_option_no_throw(words[i]) : nullptr;
    const bool is_switch = option != nullptr && option->get_items_expected_min() == 0;
    const bool has_value = is_option(words[i + 1]) ||
                           value_of_text(static_cast<bool*>(nullptr), words[i + 1]).is_boolean();
    if (is_switch && !has_value) words[i] += "=true";
  }
  return words;
}

std::string nearest_hint(const std::string& name, const std::vector<std::string>& known) {
  const std::string* nearest = nullptr;
  int64_t nearest_distance = 1 + std::max<int64_t>(2, static_cast<int64_t>(name.size()) / 3);
  for (const std::string& candidate : known) {
    const int64_t distance = edit_distance(name, candidate);
    if (distance >= nearest_distance) continue;
    nearest = &candidate;
    nearest_distance = distance;
  }
  return nearest == nullptr ? "" : fmt::format("; did you mean {}?", *nearest);
}

}  // namespace cloze::cli

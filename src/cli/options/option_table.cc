#include "cli/options/option_table.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "base/error.h"
#include "cli/options/file_source.h"
#include "cli/options/foreign_notes.h"
#include "cli/options/help_formatter.h"
#include "cli/options/option_value.h"
#include "cli/options/shipped_files.h"
#include "formats/json.h"

namespace cloze::cli {
namespace {

using formats::Json;

const std::string kCommandLine = kCommandLineOrigin;

// As one would write it after a flag: lamb, 1,0.5.
std::string plain_text(const formats::Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return formats::json_line(value);
  std::vector<std::string> items;
  for (const auto& item : value) items.push_back(plain_text(item));
  return fmt::format("{}", fmt::join(items, ","));
}

std::string help_of(const Option& option) {
  std::string help = option.help;
  std::vector<std::string> choices = option.rules.choices;
  std::erase(choices, "");
  if (!choices.empty()) help += fmt::format(" {{{}}}", fmt::join(choices, ", "));
  const formats::Json value = option_value(option);
  const bool has_default =
      !value.empty() && value != "" && value != false && !option.rules.is_required;
  return has_default ? fmt::format("{} [{}]", help, plain_text(value)) : help;
}

std::string text_of(const CLI::Option& flag) {
  return flag.results().empty() ? "" : flag.results().front();
}

void refuse_extra_arguments(const CLI::App& command) {
  const std::vector<std::string> extra = command.remaining();
  if (extra.empty()) return;
  throw_user_error("argument \"{}\" is not understood; options begin with --", extra.front());
}

void read_flags(std::vector<OptionEntry>& entries) {
  for (OptionEntry& entry : entries) {
    if (entry.flag->count() == 0) continue;
    const Json value = entry.option.rules.is_repeatable
                           ? Json(entry.flag->results())
                           : value_of_text(entry.option.target, text_of(*entry.flag));
    if (value.is_null()) clear_option(entry.option);
    set_option(entry.option, value, kCommandLine);
    entry.origin = kCommandLine;
  }
}

void read_alias_flags(OptionTable& table) {
  for (const auto& [alias, flag] : table.foreign().aliases) {
    if (flag->count() == 0) continue;
    OptionEntry& entry = *table.find(alias.option);
    Json value = value_of_text(entry.option.target, text_of(*flag));
    // Hugging Face's switch for one value of a choice: --bf16.
    const Json truth = value_of_text(static_cast<bool*>(nullptr), text_of(*flag));
    if (alias.system->meant(alias.option, truth) != truth) value = truth;
    read_alias(table, alias, value, kCommandLine);
    if (!value.is_null()) continue;
    clear_option(entry.option);
    entry.origin = kCommandLine;
  }
}

void read_foreign_flags(const ForeignNames& names, ForeignNotes& notes) {
  for (const auto& [option, flag] : names.options) {
    if (flag->count() == 0) continue;
    const auto parsed = formats::parse_json(text_of(*flag));
    const Json value = parsed ? *parsed : Json(text_of(*flag));
    // A bare flag switches something on.
    notes.meet(option, value == "" ? Json(true) : value, kCommandLine);
  }
}

}  // namespace

std::string flag_name(std::string_view option_name) {
  std::string flag = "--" + std::string(option_name);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

void OptionTable::add(Option row) {
  CLOZE_CHECK(find(row.name) == nullptr, "option {} is added twice", row.name);
  row.group = group_;
  formats::Json value = option_value(row);
  entries_.push_back({.option = std::move(row), .default_value = std::move(value)});
}

void OptionTable::add_foreign(ForeignOption option) {
  CLOZE_CHECK(!has(option.name) && find_row(foreign_.options, option.name) == nullptr,
              "option {} is added twice", option.name);
  foreign_.options.push_back({.option = std::move(option)});
}

void OptionTable::add_flags(CLI::App& command) {
  command_ = &command;
  command.allow_extras();  // refused in resolve()
  if (allows_file_) {
    config_flag_ = command.add_option("--config")
                       ->description(
                           "JSON file of options, config.json of a model (its shape), or "
                           "configuration of another system; a name such as bert_tiny is one that "
                           "comes with cloze. The command line overrides it");
  }
  for (OptionEntry& entry : entries_) add_flag(command, entry);
  const auto add_hidden = [&](auto& rows) {
    for (auto& row : rows) {
      row.flag = command.add_option(flag_name(row.option.name))->group("")->expected(0, 1);
    }
  };
  add_hidden(foreign_.options);
  add_hidden(foreign_.aliases);
  set_help(command);
}

void OptionTable::set_help(CLI::App& command) const {
  std::set<const CLI::Option*> rare;
  for (const OptionEntry& entry : entries_) {
    if (!entry.option.rules.is_common) rare.insert(entry.flag);
  }
  if (rare.size() == entries_.size()) rare.clear();
  CLI::Option* help_all = command.get_option_no_throw("--help-all");
  if (help_all != nullptr && rare.empty()) help_all->group("");
  command.formatter(std::make_shared<HelpFormatter>(usage_, std::move(rare)));
}

void OptionTable::add_flag(CLI::App& command, OptionEntry& entry) {
  const auto& [name, target, help, rules, group] = entry.option;
  entry.flag = command.add_option(rules.is_positional ? name : flag_name(name))
                   ->description(help_of(entry.option))
                   ->required(rules.is_required);
  if (!rules.is_positional) entry.flag->group(group);
  const bool is_switch =
      std::holds_alternative<bool*>(target) || std::holds_alternative<std::optional<bool>*>(target);
  if (is_switch) entry.flag->expected(0, 1);
  if (rules.is_repeatable) {
    entry.flag->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->allow_extra_args(false);
  }
  for (const std::string& other : rules.excludes) entry.flag->excludes(find(other)->flag);
}

void OptionTable::resolve() {
  CLOZE_CHECK(command_ != nullptr, "resolve() before add_flags()");
  refuse_extra_arguments(*command_);
  ForeignNotes foreign;
  FileSource file(*this, foreign);
  has_file_ = allows_file_ && config_flag_->count() > 0;
  if (has_file_) file.read(find_each_shipped(text_of(*config_flag_)));
  is_of_other_system_ = file.is_of_other_system();
  read_flags(entries_);
  read_alias_flags(*this);
  read_foreign_flags(foreign_, foreign);
  if (is_of_other_system_) notes_.push_back(file.form_note());
  for (std::string& sentence : foreign.sentences()) notes_.push_back(std::move(sentence));
}

std::vector<std::string> OptionTable::check_use() const {
  const auto why = [](const std::function<std::string()>& reason) {
    return reason ? reason() : std::string();
  };
  std::vector<std::string> notes;
  for (const auto& [option, flag, origin, default_value] : entries_) {
    const OptionRules& rules = option.rules;
    if (!(rules.idle || rules.misplaced) || !is_asked_for(option.name)) continue;
    if (const std::string refusal = why(rules.misplaced); !refusal.empty()) {
      throw_user_error("`{}` {}", option.name, refusal);
    }
    if (const std::string reason = why(rules.idle); !reason.empty()) {
      notes.push_back(fmt::format("`{}` has no effect {}", option.name, reason));
    }
  }
  return notes;
}

std::optional<std::string> OptionTable::spelled(std::string_view name) const {
  const OptionEntry* entry = find_row(entries_, name);
  if (entry == nullptr) return std::nullopt;
  const bool is_key = has_file_ && entry->origin != kCommandLine;
  return is_key || entry->option.rules.is_positional ? std::string(name) : flag_name(name);
}

const OptionEntry& OptionTable::at(const std::string& name) const {
  const OptionEntry* entry = find_row(entries_, name);
  CLOZE_CHECK(entry != nullptr, "no option {}", name);
  return *entry;
}

bool OptionTable::comes_from_run(const std::string& name) const {
  return !run_path_.empty() && at(name).origin == run_path_;
}

bool OptionTable::is_asked_for(const std::string& name) const {
  const OptionEntry& entry = at(name);
  const formats::Json value = option_value(entry.option);
  const bool is_nothing = value.empty() || value == "";
  return value != entry.default_value || (entry.origin == kCommandLine && !is_nothing);
}

formats::Json OptionTable::values() const {
  formats::Json values = formats::Json::object();
  for (const OptionEntry& entry : entries_) values[entry.option.name] = option_value(entry.option);
  return values;
}

formats::Json OptionTable::origins() const {
  formats::Json origins = formats::Json::object();
  for (const OptionEntry& entry : entries_) origins[entry.option.name] = entry.origin;
  return origins;
}

}  // namespace cloze::cli

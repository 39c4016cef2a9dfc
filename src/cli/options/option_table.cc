#include "cli/options/option_table.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <utility>

#include "base/error.h"
#include "cli/options/arguments.h"
#include "cli/options/help_formatter.h"
#include "cli/options/model_shape.h"
#include "cli/options/option_value.h"
#include "cli/options/shipped_files.h"
#include "configuration/import.h"
#include "formats/json.h"
#include "platform/files/file.h"

namespace cloze::cli {
namespace {

using formats::Json;

const std::string kCommandLine = kCommandLineOrigin;

Json parse_config(const std::string& path) {
  const std::string text = platform::read_file(path);
  auto config = formats::parse_json(text);
  if (!config) throw_user_error("{}", formats::message_at(path, text, config.error()));
  if (!config->is_object()) {
    throw_user_error("{}: a configuration is an object: {{\"option\": value, ...}}", path);
  }
  return std::move(config).value();
}

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

// Prints other words than "[OPTIONS]" after the command.
class UsageFormatter final : public HelpFormatter {
 public:
  explicit UsageFormatter(std::string words) : words_(std::move(words)) {}
  std::string make_usage(const CLI::App*, std::string name) const override {
    return fmt::format("Usage: {} {}\n", name, words_);
  }

 private:
  std::string words_;
};

// The row of that name; null when there is none.
template <typename Rows>
auto* find_row(Rows& rows, std::string_view name) {
  const auto found =
      std::ranges::find_if(rows, [&](const auto& row) { return row.option.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

// A list may be written as text.
bool says(const formats::Json& meant, const formats::Json& value) {
  return meant == value || meant == formats::Json(value.dump());
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
  CLOZE_CHECK(!has(option.name) && find_row(foreign_, option.name) == nullptr,
              "option {} is added twice", option.name);
  foreign_.push_back({.option = std::move(option)});
}

void OptionTable::add_flags(CLI::App& command) {
  command_ = &command;
  command.allow_extras();  // refused in resolve()
  if (!usage_.empty()) command.formatter(std::make_shared<UsageFormatter>(usage_));
  if (allows_file_) {
    config_flag_ = command.add_option("--config")
                       ->description(
                           "JSON file of options, config.json of a model (its shape), or "
                           "configuration of another system; a name such as bert_tiny is one that "
                           "comes with cloze. The command line overrides it");
  }
  for (Entry& entry : entries_) add_flag(command, entry);
  const auto add_hidden = [&](auto& rows) {
    for (auto& row : rows) {
      row.flag = command.add_option(flag_name(row.option.name))->group("")->expected(0, 1);
    }
  };
  add_hidden(foreign_);
  add_hidden(aliases_);
}

void OptionTable::add_flag(CLI::App& command, Entry& entry) {
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
  refuse_extra_arguments();
  if (allows_file_ && config_flag_->count() > 0) {
    read_file(find_each_shipped(text_of(*config_flag_)));
  }
  read_flags();
  collect_notes();
}

void OptionTable::read_file(const std::string& path) {
  const Json config = converted_file(path);
  const Json meant = take_foreign_form(config, path);
  // First, so that a configuration of another command is called that.
  if (Entry* task = find("task")) read_entry(*task, meant.value("task", Json()), path);
  for (const auto& [name, value] : config.items()) {
    if (Entry* entry = find(name)) {
      read_entry(*entry, meant[name], path);
      if (!meant[name].is_null() && !says(meant[name], value)) entry->origin = form_->name;
    } else if (const auto* foreign = find_row(foreign_, name)) {
      if (!meant[name].is_null()) meet_foreign(foreign->option, value, path);
    } else if (find_row(aliases_, name) == nullptr) {
      throw_user_error("{}: unknown key \"{}\"{}", path, name, suggestion(name));
    }
  }
  // Once it is known which options have a value.
  for (const auto& [alias, flag] : aliases_) {
    if (config.contains(alias.name)) read_alias(alias, config[alias.name], path);
  }
  take_stored_origins(path);
}

// The configuration stored by a run does not show the form of the file that the run was given.
void OptionTable::take_stored_origins(const std::string& path) {
  const std::filesystem::path origins =
      std::filesystem::path(path).parent_path() / kStoredOriginsName;
  if (std::filesystem::path(path).filename() != kStoredOptionsName) return;
  if (!std::filesystem::exists(origins)) return;
  const Json stored = formats::read_json_file(origins);
  for (Entry& entry : entries_) {
    const bool is_of_file = entry.origin == path;
    if (is_of_file && is_system(stored.value(entry.option.name, ""))) entry.origin = form_->name;
  }
}

// The file's values, or those that another system's configuration is converted to. Several files,
// and YAML, may also be in our form.
Json OptionTable::converted_file(const std::string& path) {
  const auto file = configuration::read_foreign_form(path);
  if (!file) return options_of_file(path);
  const configuration::ForeignSystem& system = configuration::recognised_system(*file);
  if (configuration::is_own_form(system, *file)) return file->values;
  const configuration::Conversion conversion = configuration::converted(system, *file);
  // First, so that a configuration of another command is called that.
  if (Entry* task = find("task")) read_entry(*task, conversion.task(), path);
  conversion.require_free_way();
  notes_.push_back(path + ": " + configuration::summary(system, conversion));
  return conversion.options();
}

Json OptionTable::options_of_file(const std::string& path) {
  Json config = parse_config(path);
  const std::optional<Json> shape = options_of_model(config, path);
  if (!shape) return config;
  notes_.push_back(path + " is a model's configuration: only the model's shape is taken from it");
  return *shape;
}

// For a file in another system's form, that system's defaults are set first. Returns what its
// values mean: null where another key replaces one.
Json OptionTable::take_foreign_form(const Json& config, const std::string& path) {
  if (form_ == nullptr) return config;
  configuration::ForeignFile file = configuration::flat_values(config);
  file.path = path;
  const std::string* mark = configuration::find_mark(*form_, file);
  if (mark == nullptr) return configuration::with_layout_as_text(config);
  form_mark_ = *mark;
  form_path_ = path;
  for (const auto& [name, value] : form_->defaults.items()) take_of_form(name, value);
  const configuration::Conversion conversion = configuration::converted(*form_, file);
  conversion.require_no_contradiction();
  // Options that the file does not set itself but its values imply.
  for (const auto& [name, value] : conversion.options().items()) {
    if (name != "task" && !config.contains(name)) take_of_form(name, value);
  }
  Json meant = config;
  for (auto& [name, value] : meant.items()) {
    const bool is_replaced = value == "" || conversion.replaced().contains(name);
    value = is_replaced ? Json() : conversion.options().value(name, form_->meant(name, value));
  }
  return meant;
}

void OptionTable::take_of_form(const std::string& name, const formats::Json& value) {
  Entry* entry = find(name);
  if (entry == nullptr || option_value(entry->option) == value) return;
  set_option(entry->option, value, form_->name);
  entry->origin = form_->name;
}

void OptionTable::read_entry(Entry& entry, const Json& value, const std::string& path) {
  if (value.is_null()) return;
  set_option(entry.option, value, path);
  entry.origin = path;
}

void OptionTable::read_alias(const OptionAlias& alias, const Json& value,
                             const std::string& source) {
  if (value.is_null()) return;
  Entry& entry = *find(alias.option);
  if (entry.origin == source) {
    throw_user_error("{}: {} is {}, but {} is given as well; give one of them", source, alias.name,
                     formats::json_line(value), alias.option);
  }
  set_option(entry.option, alias.system->meant(alias.option, value), source + ": " + alias.name);
  entry.origin = source;
}

void OptionTable::read_flags() {
  for (Entry& entry : entries_) {
    if (entry.flag->count() == 0) continue;
    const Json value = entry.option.rules.is_repeatable
                           ? Json(entry.flag->results())
                           : value_of_text(entry.option.target, text_of(*entry.flag));
    if (value.is_null()) clear_option(entry.option);
    set_option(entry.option, value, kCommandLine);
    entry.origin = kCommandLine;
  }
  read_alias_flags();
  for (const auto& [option, flag] : foreign_) {
    if (flag->count() == 0) continue;
    const auto parsed = formats::parse_json(text_of(*flag));
    const Json value = parsed ? *parsed : Json(text_of(*flag));
    // A bare flag switches something on.
    meet_foreign(option, value == "" ? Json(true) : value, kCommandLine);
  }
}

void OptionTable::read_alias_flags() {
  for (const auto& [alias, flag] : aliases_) {
    if (flag->count() == 0) continue;
    Entry& entry = *find(alias.option);
    Json value = value_of_text(entry.option.target, text_of(*flag));
    // Hugging Face's switch for one value of a choice: --bf16.
    const Json truth = value_of_text(static_cast<bool*>(nullptr), text_of(*flag));
    if (alias.system->meant(alias.option, truth) != truth) value = truth;
    read_alias(alias, value, kCommandLine);
    if (!value.is_null()) continue;
    clear_option(entry.option);
    entry.origin = kCommandLine;
  }
}

void OptionTable::refuse_extra_arguments() const {
  const std::vector<std::string> extra = command_->remaining();
  if (extra.empty()) return;
  throw_user_error("argument \"{}\" is not understood; options begin with --", extra.front());
}

void OptionTable::meet_foreign(const ForeignOption& option, const Json& value,
                               const std::string& source) {
  const bool agrees = !option.agreeing.is_null() && value == option.agreeing;
  const bool asks_nothing = option.agreeing.is_null() && configuration::is_off(value);
  if (agrees || asks_nothing) return;
  if (option.is_refused) {
    throw_user_error("{}: {} is {}; {}", source, option.name, formats::json_line(value),
                     option.reason);
  }
  met_[{source, option.reason}].push_back(option.name);
}

std::vector<std::string> OptionTable::take_run(const StoredOptions& run) {
  run_path_ = run.path;
  std::vector<std::string> changes;
  for (const auto& [name, value] : run.values.items()) {
    Entry* entry = find(name);
    if (entry == nullptr) {
      notes_.push_back(fmt::format("{}: {} is not known here and has no effect", run.path, name));
    } else if (entry->option.rules.is_of_command) {
      continue;
    } else if (entry->origin == kDefaultOrigin) {
      take_value(*entry, value, run);
    } else if (const Json here = option_value(entry->option); here != value) {
      changes.push_back(
          fmt::format("{} {} (was {})", name, formats::json_line(here), formats::json_line(value)));
    }
  }
  return changes;
}

void OptionTable::take_value(Entry& entry, const Json& value, const StoredOptions& run) const {
  if (value.is_null()) clear_option(entry.option);
  set_option(entry.option, value, run.path);
  const std::string origin = run.origin_of(entry.option.name);
  if (origin == kDefaultOrigin) return;
  entry.origin = is_system(origin) ? origin : run.path;
}

std::string OptionTable::form_note() const {
  std::vector<std::string> taken;
  for (const Entry& entry : entries_) {
    if (entry.origin != form_->name) continue;
    taken.push_back(entry.option.name + " " + formats::json_line(option_value(entry.option)));
  }
  return fmt::format("{}: {} makes this a file of {}, so this run takes that system's {}",
                     form_path_, form_mark_, form_->name, fmt::join(taken, ", "));
}

void OptionTable::collect_notes() {
  if (!form_mark_.empty()) notes_.push_back(form_note());
  for (const auto& [key, names] : met_) {
    const auto& [source, reason] = key;
    notes_.push_back(fmt::format("{}: {} {} no effect: {}", source, fmt::join(names, ", "),
                                 names.size() == 1 ? "has" : "have", reason));
  }
}

OptionTable::Entry* OptionTable::find(std::string_view name) { return find_row(entries_, name); }

bool OptionTable::has(const std::string& name) const { return find_row(entries_, name) != nullptr; }

// Another key of the configuration that may be meant.
std::string OptionTable::suggestion(const std::string& key) const {
  std::vector<std::string> known;
  for (const Entry& entry : entries_) known.push_back(entry.option.name);
  const std::string hint = nearest_hint(key, known);
  return hint.empty() ? fmt::format("; {} --help lists all", command_->get_name()) : hint;
}

const OptionTable::Entry& OptionTable::at(const std::string& name) const {
  const Entry* entry = find_row(entries_, name);
  CLOZE_CHECK(entry != nullptr, "no option {}", name);
  return *entry;
}

const std::string& OptionTable::origin(const std::string& name) const { return at(name).origin; }

bool OptionTable::comes_from_run(const std::string& name) const {
  return !run_path_.empty() && at(name).origin == run_path_;
}

bool OptionTable::is_asked_for(const std::string& name) const {
  const Entry& entry = at(name);
  const formats::Json value = option_value(entry.option);
  const bool is_nothing = value.is_null() || value == "";
  return value != entry.default_value || (entry.origin == kCommandLine && !is_nothing);
}

std::vector<std::string> OptionTable::asked_for(std::vector<std::string> names) const {
  std::erase_if(names, [&](const std::string& name) { return !is_asked_for(name); });
  return names;
}

std::optional<std::string> OptionTable::first_asked_for(std::vector<std::string> names) const {
  const std::vector<std::string> asked = asked_for(std::move(names));
  return asked.empty() ? std::nullopt : std::optional(asked.front());
}

formats::Json OptionTable::values() const {
  formats::Json values = formats::Json::object();
  for (const Entry& entry : entries_) values[entry.option.name] = option_value(entry.option);
  return values;
}

formats::Json OptionTable::origins() const {
  formats::Json origins = formats::Json::object();
  for (const Entry& entry : entries_) origins[entry.option.name] = entry.origin;
  return origins;
}

}  // namespace cloze::cli

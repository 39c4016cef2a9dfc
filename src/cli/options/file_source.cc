#include "cli/options/file_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cli/options/arguments.h"
#include "cli/options/model_shape.h"
#include "cli/options/option_value.h"
#include "cli/options/stored_options.h"
#include "configuration/import.h"
#include "platform/files/file.h"

namespace cloze::cli {
namespace {

using formats::Json;

Json parse_config(const std::string& path) {
  const std::string text = platform::read_file(path);
  auto config = formats::parse_json(text);
  if (!config) throw_user_error("{}", formats::message_at(path, text, config.error()));
  if (!config->is_object()) {
    throw_user_error("{}: a configuration is an object: {{\"option\": value, ...}}", path);
  }
  return std::move(config).value();
}

// A list may be written as text.
bool says(const Json& meant, const Json& value) {
  return meant == value || meant == Json(value.dump());
}

void read_entry(OptionEntry& entry, const Json& value, const std::string& path) {
  if (value.is_null()) return;
  set_option(entry.option, value, path);
  entry.origin = path;
}

// Another key of the configuration that may be meant.
std::string suggestion(OptionTable& table, const std::string& key) {
  std::vector<std::string> known;
  for (const OptionEntry& entry : table.entries()) known.push_back(entry.option.name);
  const std::string hint = nearest_hint(key, known);
  return hint.empty() ? "; --help-all lists all" : hint;
}

}  // namespace

void FileSource::read(const std::string& path) {
  const Json config = converted(path);
  const Json meant = take_form(config, path);
  // First, so that a configuration of another command is called that.
  if (OptionEntry* task = table_.find("task")) read_entry(*task, meant.value("task", Json()), path);
  const ForeignNames& names = table_.foreign();
  for (const auto& [name, value] : config.items()) {
    if (OptionEntry* entry = table_.find(name)) {
      read_entry(*entry, meant[name], path);
      if (!meant[name].is_null() && !says(meant[name], value)) entry->origin = names.form->name;
    } else if (const auto* foreign = find_row(names.options, name)) {
      if (!meant[name].is_null()) foreign_.meet(foreign->option, value, path);
    } else if (find_row(names.aliases, name) == nullptr) {
      throw_user_error("{}: unknown key \"{}\"{}", path, name, suggestion(table_, name));
    }
  }
  // Once it is known which options have a value.
  for (const auto& [alias, flag] : names.aliases) {
    if (config.contains(alias.name)) read_alias(table_, alias, config[alias.name], path);
  }
  take_stored_origins(path);
}

// The configuration stored by a run does not show the form of the file that the run was given.
void FileSource::take_stored_origins(const std::string& path) {
  const std::filesystem::path origins =
      std::filesystem::path(path).parent_path() / kStoredOriginsName;
  if (std::filesystem::path(path).filename() != kStoredOptionsName) return;
  if (!std::filesystem::exists(origins)) return;
  const Json stored = formats::read_json_file(origins);
  for (OptionEntry& entry : table_.entries()) {
    const std::string origin = stored.value(entry.option.name, "");
    if (entry.origin == path && table_.is_system(origin)) entry.origin = origin;
  }
}

// The file's values, or those that another system's configuration is converted to. Several files,
// and YAML, may also be in our form.
Json FileSource::converted(const std::string& path) {
  const auto file = configuration::read_foreign_form(path);
  if (!file) return options_in(path);
  const configuration::ForeignSystem& system = configuration::recognised_system(*file);
  if (configuration::is_own_form(system, *file)) return file->values;
  const configuration::Conversion conversion = configuration::converted(system, *file);
  // First, so that a configuration of another command is called that.
  if (OptionEntry* task = table_.find("task")) read_entry(*task, conversion.task(), path);
  conversion.require_free_way();
  table_.add_note(path + ": " + configuration::summary(system, conversion));
  return conversion.options();
}

Json FileSource::options_in(const std::string& path) {
  Json config = parse_config(path);
  const std::optional<Json> shape = options_of_model(config, path);
  if (!shape) return config;
  table_.add_note(path + " is a model's configuration: only the model's shape is taken from it");
  return *shape;
}

// For a file in another system's form, that system's defaults are set first. Returns what its
// values mean: null where another key replaces one.
Json FileSource::take_form(const Json& config, const std::string& path) {
  const configuration::ForeignSystem* form = table_.foreign().form;
  if (form == nullptr) return config;
  configuration::ForeignFile file = configuration::flat_values(config);
  file.path = path;
  const std::string* mark = configuration::find_mark(*form, file);
  if (mark == nullptr) return configuration::with_layout_as_text(config);
  mark_ = *mark;
  path_ = path;
  for (const auto& [name, value] : form->defaults.items()) take_of_form(name, value);
  const configuration::Conversion conversion = configuration::converted(*form, file);
  conversion.require_no_contradiction();
  // Options that the file does not set itself but its values imply.
  for (const auto& [name, value] : conversion.options().items()) {
    if (name != "task" && !config.contains(name)) take_of_form(name, value);
  }
  Json meant = config;
  for (auto& [name, value] : meant.items()) {
    const bool is_replaced = value == "" || conversion.replaced().contains(name);
    value = is_replaced ? Json() : conversion.options().value(name, form->meant(name, value));
  }
  return meant;
}

void FileSource::take_of_form(const std::string& name, const Json& value) {
  OptionEntry* entry = table_.find(name);
  if (entry == nullptr || option_value(entry->option) == value) return;
  read_entry(*entry, value, table_.foreign().form->name);
}

std::string FileSource::form_note() const {
  const std::string& system = table_.foreign().form->name;
  std::vector<std::string> taken;
  for (const OptionEntry& entry : table_.entries()) {
    if (entry.origin != system) continue;
    taken.push_back(entry.option.name + " " + formats::json_line(option_value(entry.option)));
  }
  return fmt::format("{}: {} makes this a file of {}; what it leaves out is {}", path_, mark_,
                     system, fmt::join(taken, ", "));
}

void read_alias(OptionTable& table, const OptionAlias& alias, const Json& value,
                const std::string& source) {
  if (value.is_null()) return;
  OptionEntry& entry = *table.find(alias.option);
  if (entry.origin == source) {
    throw_user_error("{} is {}, but {} is given as well; give one of them",
                     place_of(alias.name, source), formats::json_line(value), alias.option);
  }
  set_option(entry.option, alias.system->meant(alias.option, value), place_of(alias.name, source));
  entry.origin = source;
}

}  // namespace cloze::cli

#include "configuration/foreign_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "configuration/command_line.h"
#include "configuration/foreign_system.h"
#include "configuration/program_elsewhere.h"
#include "formats/json.h"
#include "formats/yaml.h"
#include "platform/files/file.h"

namespace cloze::configuration {
namespace {

using formats::Json;

bool is_known(const std::string& key) {
  const auto& systems = foreign_systems();
  return std::any_of(systems.begin(), systems.end(),
                     [&](const ForeignSystem* system) { return system->find(key, "") != nullptr; });
}

// Says whether an object is the value of a key in some system.
bool is_value(const std::string& key, const Json& object) {
  const bool has_keys = std::any_of(object.items().begin(), object.items().end(),
                                    [&](auto& item) { return is_known(key + "." + item.name); });
  return !has_keys && is_known(key);
}

void flatten(const Json& value, const std::string& key, ForeignFile& file) {
  const bool is_nested = value.is_object() && (key.empty() || !is_value(key, value));
  if (!is_nested) {
    file.values[key] = value;
    return;
  }
  for (const auto& [name, member] : value.items()) {
    flatten(member, key.empty() ? name : key + "." + name, file);
  }
}

Json parse(const std::filesystem::path& path, const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_json =
      path.extension() == ".json" || (first != std::string::npos && text[first] == '{');
  auto document = is_json ? formats::parse_json(text) : formats::parse_yaml(text);
  if (!document) throw_user_error("{}", formats::message_at(path, text, document.error()));
  if (!document->is_object()) {
    throw_user_error(
        "{}: no keys with values; give a configuration of another system, as JSON, "
        "YAML or a command line",
        path.string());
  }
  return std::move(document).value();
}

// Optimum's "a=1,b=2" of keys that have names of their own.
void split_assignments(ForeignFile& file, const std::string& key, const std::string& prefix) {
  const auto found = file.values.find(key);
  if (found == file.values.end() || !found->second.is_string()) return;
  const std::string list = found->second.get<std::string>();
  for (std::string_view rest = list; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(','));
    const size_t equals = one.find('=');
    if (equals == std::string_view::npos) return;
    file.assigned[prefix + std::string(one.substr(0, equals))] =
        word_value(std::string(one.substr(equals + 1)));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
  }
  file.values.erase(key);
}

ForeignFile with_assignments(ForeignFile file) {
  split_assignments(file, "ipu_config_overrides", "ipu_config.");
  split_assignments(file, "config_overrides", "config_overrides.");
  for (const auto& [key, value] : file.assigned) file.values[key] = value;
  return file;
}

ForeignFile read(const std::filesystem::path& path) {
  const std::string text = platform::read_file(path);
  const bool is_structured =
      path.extension() == ".json" || path.extension() == ".yaml" || path.extension() == ".yml";
  if (is_structured || !is_command_line(text)) return flat_values(parse(path, text));
  try {
    return with_assignments(command_line_values(text));
  } catch (const UserError& error) {
    throw_user_error("{}: {}", path.string(), error.what());
  }
}

// The place where a command line finds a file, or "".
std::filesystem::path place_of(const std::string& named, const std::filesystem::path& line) {
  for (const std::filesystem::path& place :
       {std::filesystem::path(named), line.parent_path() / named}) {
    if (!named.empty() && std::filesystem::is_regular_file(place)) return place;
  }
  return {};
}

using Paths = std::vector<std::filesystem::path>;

bool is_given(const std::string& named, const Paths& paths) {
  return std::ranges::any_of(paths, [&](const std::filesystem::path& path) {
    return path.filename() == std::filesystem::path(named).filename();
  });
}

[[noreturn]] void throw_not_found(const ForeignFile& line, std::string_view key,
                                  const std::string& named) {
  throw_user_error(
      "{}: {} is {}, which is neither in the current folder nor beside that file; put it there, or "
      "name it first: ITS_PATH,{}",
      line.path, key, named, line.path);
}

// Adds what the line itself does not set.
void read_named(ForeignFile& line, const std::string& key, const std::filesystem::path& place) {
  for (auto& [name, value] : read(place).values) line.values.try_emplace(name, value);
  line.named[key] = place.string();
}

void read_named_config(ForeignFile& line, const Paths& paths) {
  const auto config = line.values.find("config");
  if (config == line.values.end()) return;
  if (!config->second.is_string()) {
    throw_user_error("{}: no option is before {}; correct it", line.path, config->second.dump());
  }
  const std::string named = config->second.get<std::string>();
  if (is_given(named, paths)) {
    line.named["config"] = named;
    return;
  }
  const std::filesystem::path place = place_of(named, line.path);
  if (place.empty()) throw_not_found(line, "config", named);
  read_named(line, "config", place);
}

// The sizes of Habana's models: a file of this name holds those of BERT-large there, which are what
// a command line has without it, too.
void read_named_sizes(ForeignFile& line, const Paths& paths) {
  constexpr const char* kOfBertLarge = "bert_config.json";
  const auto config = line.values.find("config_file");
  if (config == line.values.end() || !config->second.is_string()) return;
  const std::string named = config->second.get<std::string>();
  const std::filesystem::path place = place_of(named, line.path);
  if (!place.empty()) return read_named(line, "config_file", place);
  if (is_given(named, paths) || std::filesystem::path(named).filename() == kOfBertLarge) return;
  throw_not_found(line, "config_file", named);
}

// poprun decides how many replicas there are, whatever the programs' files say.
void take_launched_replicas(ForeignFile& file) {
  if (file.launched_replicas == 0) return;
  for (const char* key : {"replication_factor", "global_batch.replicas"}) {
    if (!file.values.contains(key)) continue;
    file.values[key] = file.launched_replicas;
    return;
  }
  file.values["replicas"] = file.launched_replicas;
}

void require_bert(const ForeignFile& file) {
  for (const char* key : {"model_name_or_path", "config_name", "model_type", "bert_model",
                          "bert_model_name", "ipu_config_name"}) {
    const auto found = file.values.find(key);
    const bool is_name = found != file.values.end() && found->second.is_string();
    const char* family = is_name ? foreign_family(found->second.get<std::string>()) : nullptr;
    if (family == nullptr) continue;
    throw_user_error(
        "{}: {} is {}: {} is another model than BERT and is not here; name a BERT, such as "
        "bert-base-uncased",
        file.path, key, found->second.get<std::string>(), family);
  }
}

}  // namespace

ForeignFile flat_values(const Json& document) {
  ForeignFile file;
  const bool is_ipu_config =
      document.contains("ipus_per_replica") || document.contains("layers_per_ipu");
  if (is_ipu_config) {
    for (const auto& [key, value] : document.items()) file.values["ipu_config." + key] = value;
    return file;
  }
  Json plain = document;
  const Json parameters = document.value("parameters", Json());
  if (parameters.is_object()) {
    plain.erase("parameters");
    plain.update(parameters);
    plain.erase("store_true");
    for (const Json& word : parameters.value("store_true", Json::array())) {
      if (word.is_string()) plain[word.get<std::string>()] = true;
    }
  }
  flatten(plain, "", file);
  return with_assignments(std::move(file));
}

ForeignFile read_foreign_files(const std::vector<std::filesystem::path>& paths) {
  ForeignFile all;
  for (const std::filesystem::path& path : paths) {
    ForeignFile one = read(path);
    one.path = path.string();
    if (!one.program.empty()) {
      read_named_config(one, paths);
      read_named_sizes(one, paths);
    }
    if (!all.path.empty()) all.path += ',';
    all.path += path.string();
    if (!one.program.empty()) all.program = one.program;
    if (one.launched_replicas > 0) all.launched_replicas = one.launched_replicas;
    all.named.merge(one.named);
    for (auto& [key, value] : one.values) all.values[key] = std::move(value);
    for (auto& [key, value] : one.assigned) all.assigned[key] = std::move(value);
  }
  for (const auto& [key, value] : all.assigned) all.values[key] = value;
  take_launched_replicas(all);
  require_bert(all);
  return all;
}

}  // namespace cloze::configuration

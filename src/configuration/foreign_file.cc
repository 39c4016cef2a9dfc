#include "configuration/foreign_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/error.h"
#include "configuration/foreign_system.h"
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

// Whether an object is the value of a key in some system.
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

// Habana's launcher has short names too.
const std::map<std::string, std::string>& short_names() {
  static const std::map<std::string, std::string> names = {{"o", "output_dir"},
                                                           {"d", "device"},
                                                           {"p", "data_dir"},
                                                           {"t", "task_name"},
                                                           {"m", "model_name_or_path"},
                                                           {"w", "world_size"},
                                                           {"r", "learning_rate"},
                                                           {"s", "max_seq_length"},
                                                           {"b", "batch_size"},
                                                           {"st", "save_steps"},
                                                           {"wp", "warmup"},
                                                           {"v", "per_device_eval_batch_size"},
                                                           {"e", "num_train_epochs"},
                                                           {"l", "logging_steps"},
                                                           {"tf", "train_file"},
                                                           {"pf", "predict_file"},
                                                           {"mt", "model_type"},
                                                           {"ds", "doc_stride"}};
  return names;
}

bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' &&
         (word[1] == '-' || std::isalpha(static_cast<unsigned char>(word[1])) != 0);
}

std::string key_of(const std::string& word) {
  std::string key = word.substr(word.find_first_not_of('-'));
  std::replace(key.begin(), key.end(), '-', '_');
  const auto found = short_names().find(key);
  return word.starts_with("--") || found == short_names().end() ? key : found->second;
}

Json value_of(const std::string& word) {
  if (word == "True" || word == "False") return word == "True";
  const auto parsed = formats::parse_json(word);
  return parsed ? *parsed : Json(word);
}

std::string without_comments(std::string_view text) {
  std::string kept;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    std::string line(text.substr(begin, end - begin));
    const size_t first = line.find_first_not_of(" \t");
    if (line.ends_with("\r\n")) line.replace(line.size() - 2, 2, "\n");
    if (first != std::string::npos && line[first] != '#') kept += line;
    begin = end;
  }
  return kept;
}

bool is_program(const std::string& word) {
  return !is_option(word) && (word.ends_with(".py") || word.ends_with("demo_bert"));
}

bool is_digit(const std::string& word) {
  return word.size() == 1 && std::isdigit(static_cast<unsigned char>(word[0])) != 0;
}

bool is_end_of_command(char c) {
  return std::string_view("|&;<>").find(c) != std::string_view::npos;
}

// As a shell splits them, of the first command with a program or options: up to a pipe, a
// redirection, or another command.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && is_end_of_command(c)) {
      const bool is_of_stream = in_word && is_digit(words.back());  // 2>
      if (is_of_stream) words.pop_back();
      if (std::ranges::any_of(words, is_program) || std::ranges::any_of(words, is_option)) break;
      words.clear();
      in_word = false;
    } else if (quote == 0 && !in_word && c == '#') {
      i = std::min(text.find('\n', i), text.size());
    } else if (quote != 0 && c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
      if (!std::exchange(in_word, true)) words.emplace_back();
    } else if (quote == 0 && c == '\\' && i + 1 < text.size() && text[i + 1] == '\n') {
      ++i;
      in_word = false;
    } else if (quote == 0 && std::isspace(static_cast<unsigned char>(c)) != 0) {
      in_word = false;
    } else {
      if (!std::exchange(in_word, true)) words.emplace_back();
      words.back() += c;
    }
  }
  return words;
}

// The program, and what follows it.
std::vector<std::string> take_program(std::vector<std::string> words, ForeignFile& file) {
  const auto last = std::find_if(words.rbegin(), words.rend(), is_program);
  if (last == words.rend()) return words;
  file.program = std::filesystem::path(*last).filename();
  return {last.base(), words.end()};
}

void add_word(Json& value, const std::string& word) {
  if (value == true) {
    value = value_of(word);
  } else {
    if (!value.is_array()) value = Json::array({value});
    value.push_back(value_of(word));
  }
}

bool is_command_line(const std::string& text) {
  return text.starts_with("--") || text.find(" --") != std::string::npos;
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
        value_of(std::string(one.substr(equals + 1)));
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
  const std::string plain = without_comments(text);
  const bool is_structured = path.extension() == ".json" || path.extension() == ".yaml" ||
                             path.extension() == ".yml" || plain.starts_with("{");
  if (!is_structured && is_command_line(plain)) return command_line_values(plain);
  return flat_values(parse(path, text));
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

ForeignFile command_line_values(std::string_view text) {
  ForeignFile file;
  std::string key = "config";  // of a word that no option comes before
  for (const std::string& word : take_program(words_of(without_comments(text)), file)) {
    const bool is_launcher = file.program.starts_with("demo_bert");
    if (is_launcher && (word == "pretraining" || word == "finetuning")) {
      file.values["command"] = word;
    } else if (!is_option(word)) {
      add_word(file.values.try_emplace(key, true).first->second, word);
    } else {
      const size_t equals = std::min(word.find('='), word.size());
      key = key_of(word.substr(0, equals));
      file.values[key] = equals == word.size() ? Json(true) : value_of(word.substr(equals + 1));
    }
  }
  return with_assignments(std::move(file));
}

ForeignFile read_foreign_files(const std::vector<std::filesystem::path>& paths) {
  ForeignFile all;
  for (const std::filesystem::path& path : paths) {
    ForeignFile one = read(path);
    if (!all.path.empty()) all.path += ',';
    all.path += path.string();
    if (!one.program.empty()) all.program = one.program;
    for (auto& [key, value] : one.values) all.values[key] = std::move(value);
    for (auto& [key, value] : one.assigned) all.assigned[key] = std::move(value);
  }
  for (const auto& [key, value] : all.assigned) all.values[key] = value;
  return all;
}

}  // namespace cloze::configuration

#include "configuration/command_line.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/error.h"
#include "configuration/foreign_system.h"
#include "configuration/program_elsewhere.h"
#include "formats/json.h"

namespace cloze::configuration {
namespace {

using formats::Json;
using Words = std::vector<std::string>;

bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' &&
         (word[1] == '-' || std::isalpha(static_cast<unsigned char>(word[1])) != 0);
}

// Habana's launcher has short names too.
std::string key_of(const std::string& word) {
  std::string key = word.substr(word.find_first_not_of('-'));
  std::replace(key.begin(), key.end(), '-', '_');
  if (word.starts_with("--")) return key;
  return habana().constants.at("short names").value(key, key);
}

// The file's name of a program; a README may leave the ending out.
std::string program_of(const std::string& word) {
  const std::string name = std::filesystem::path(word).filename();
  return is_training_program(name + ".py") && name != "bert" ? name + ".py" : name;
}

bool is_known_program(const std::string& word) {
  if (is_option(word)) return false;
  const std::string name = program_of(word);
  return is_training_program(name) || counterpart_of(name) != nullptr;
}

bool is_program(const std::string& word) {
  return !is_option(word) &&
         (word.ends_with(".py") || word.ends_with(".sh") || is_known_program(word));
}

bool is_digit(const std::string& word) {
  return word.size() == 1 && std::isdigit(static_cast<unsigned char>(word[0])) != 0;
}

bool is_end_of_command(char c) {
  return std::string_view("|&;<>").find(c) != std::string_view::npos;
}

// The length of "<name>" at a place, which a shell would take for redirections; 0: none.
size_t placeholder_at(std::string_view text, size_t at) {
  if (text[at] != '<' || at + 1 == text.size() ||
      std::isalpha(static_cast<unsigned char>(text[at + 1])) == 0) {
    return 0;
  }
  const size_t end = text.find_first_of("<> \t\r\n", at + 1);
  return end == std::string_view::npos || text[end] != '>' ? 0 : end + 1 - at;
}

// Splits a text as a shell does.
class Shell {
 public:
  explicit Shell(std::string_view text) : text_(text) {}

  // The words of the next command; none at the end of the text.
  Words next_command() {
    words_.clear();
    in_word_ = false;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (const size_t length = quote_ == 0 ? placeholder_at(text_, at_) : 0; length > 0) {
        for (; length > 0 && text_[at_] != '>'; ++at_) add(text_[at_]);
        add('>');
      } else if (quote_ == 0 && is_end_of_command(c)) {
        const bool is_of_stream = in_word_ && is_digit(words_.back());  // 2>
        if (is_of_stream) words_.pop_back();
        in_word_ = false;
        if (words_.empty()) continue;
        ++at_;
        return words_;
      } else {
        take(c);
      }
    }
    return words_;
  }

 private:
  void take(char c) {
    if (quote_ == 0 && !in_word_ && c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (quote_ != 0 && c == quote_) {
      quote_ = 0;
    } else if (quote_ == 0 && (c == '\'' || c == '"')) {
      quote_ = c;
      if (!std::exchange(in_word_, true)) words_.emplace_back();
    } else if (quote_ == 0 && c == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n') {
      ++at_;
      in_word_ = false;
    } else if (quote_ == 0 && std::isspace(static_cast<unsigned char>(c)) != 0) {
      in_word_ = false;
    } else {
      add(c);
    }
  }
  void add(char c) {
    if (!std::exchange(in_word_, true)) words_.emplace_back();
    words_.back() += c;
  }

  std::string_view text_;
  size_t at_ = 0;
  char quote_ = 0;
  bool in_word_ = false;
  Words words_;
};

bool starts_something(const Words& words) {
  return std::ranges::any_of(words, is_program) || std::ranges::any_of(words, is_option);
}

// The words of the first command with a program or options. UserError when another one trains, too.
Words words_of(std::string_view text) {
  Shell shell(text);
  Words first, programs;
  for (Words words = shell.next_command(); !words.empty(); words = shell.next_command()) {
    for (size_t i = 0; i < words.size(); ++i) {
      const bool is_value = i > 0 && is_option(words[i - 1]);
      if (!is_value && !is_option(words[i]) && is_training_program(program_of(words[i]))) {
        programs.push_back(words[i]);
      }
    }
    if (first.empty() && starts_something(words)) first = std::move(words);
  }
  if (programs.size() > 1) {
    throw_user_error("{} and {} are two command lines; give each a file of its own", programs[0],
                     programs[1]);
  }
  return first;
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

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    const size_t end = at + what.size();
    const bool is_whole =
        what.ends_with('}') || end == text.size() ||
        (std::isalnum(static_cast<unsigned char>(text[end])) == 0 && text[end] != '_');
    if (is_whole) text.replace(at, what.size(), by);
  }
}

// The words after the program, with the variables set that come before it: TASK=mrpc.
Words take_program(Words words, ForeignFile& file, Words& before) {
  auto program = std::ranges::find_if(words, is_known_program);
  if (program == words.end()) program = std::ranges::find_if(words, is_program);
  if (program == words.end()) return words;
  file.program = program_of(*program);
  before.assign(words.begin(), program);
  Words after(program + 1, words.end());
  for (const std::string& word : before) {
    const size_t equals = word.find('=');
    if (is_option(word) || equals == std::string::npos) continue;
    const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
    for (std::string& one : after) {
      replace_all(one, "${" + name + "}", value);
      replace_all(one, "$" + name, value);
    }
  }
  return after;
}

// The number above 1 that the first of these options of a launcher has; 0: none.
int64_t number_of(const Words& words, std::initializer_list<std::string_view> options) {
  for (size_t i = 0; i < words.size(); ++i) {
    const size_t equals = std::min(words[i].find('='), words[i].size());
    const bool is_one = std::ranges::find(options, words[i].substr(0, equals)) != options.end();
    if (!is_one) continue;
    const bool has_own = equals < words[i].size();
    if (!has_own && i + 1 == words.size()) break;
    const Json value = word_value(has_own ? words[i].substr(equals + 1) : words[i + 1]);
    const int64_t number = value.is_number_integer() ? value.get<int64_t>() : 0;
    return number > 1 ? number : 0;
  }
  return 0;
}

bool starts_with_name(const Words& words, std::initializer_list<std::string_view> names) {
  return std::ranges::any_of(words, [&](const std::string& word) {
    return std::ranges::find(names, std::filesystem::path(word).filename().string()) != names.end();
  });
}

// demo_bert starts processes by itself, as its own options say.
void take_launcher(const Words& before, ForeignFile& file) {
  if (starts_with_name(before, {"poprun"})) {
    file.launched_replicas = number_of(before, {"--num-replicas"});
  } else if (!file.program.starts_with("demo_bert")) {
    const int64_t processes = starts_with_name(before, {"mpirun", "mpiexec"})
                                  ? number_of(before, {"-n", "-np", "--np"})
                                  : number_of(before, {"--nproc_per_node", "--nproc-per-node"});
    if (processes > 0) file.values["world_size"] = processes;
  }
}

void add_word(Json& value, const std::string& word) {
  if (value == true) {
    value = word_value(word);
  } else {
    if (!value.is_array()) value = Json::array({value});
    value.push_back(word_value(word));
  }
}

void refuse_elsewhere(const std::string& program) {
  const char* counterpart = counterpart_of(program);
  if (counterpart != nullptr) throw_user_error("{} {}", program, counterpart);
}

}  // namespace

Json word_value(const std::string& word) {
  if (word == "True" || word == "False") return word == "True";
  const auto parsed = formats::parse_json(word);
  return parsed ? *parsed : Json(word);
}

bool is_command_line(const std::string& text) {
  const std::string plain = without_comments(text);
  if (plain.starts_with("{") || plain.starts_with("[")) return false;
  Shell shell(plain);
  for (Words words = shell.next_command(); !words.empty(); words = shell.next_command()) {
    if (starts_something(words)) return true;
  }
  return false;
}

ForeignFile command_line_values(std::string_view text) {
  ForeignFile file;
  Words before;
  const std::string plain = without_comments(text);
  const Words words = take_program(words_of(plain), file, before);
  refuse_elsewhere(file.program);
  take_launcher(before, file);
  std::string key = "config";  // of a word that no option comes before
  for (const std::string& word : words) {
    const bool is_launcher = file.program.starts_with("demo_bert");
    if (is_launcher && (word == "pretraining" || word == "finetuning")) {
      file.values["command"] = word;
    } else if (!is_option(word)) {
      add_word(file.values.try_emplace(key, true).first->second, word);
    } else {
      const size_t equals = std::min(word.find('='), word.size());
      key = key_of(word.substr(0, equals));
      file.values[key] = equals == word.size() ? Json(true) : word_value(word.substr(equals + 1));
    }
  }
  return file;
}

}  // namespace cloze::configuration

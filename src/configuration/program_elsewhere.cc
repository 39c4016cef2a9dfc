#include "configuration/program_elsewhere.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <vector>

#include "configuration/systems/programs_yml.h"
#include "formats/json.h"
#include "formats/yaml.h"

namespace cloze::configuration {
namespace {

using Names = std::map<std::string, std::string>;

struct Programs {
  Programs() {
    const formats::Json file = formats::parse_yaml(kPrograms).value();
    training = file.at("training").get<std::vector<std::string>>();
    families = file.at("families").get<Names>();
    for (const auto& [sentence, names] : file.at("elsewhere").items()) {
      for (const formats::Json& name : names) counterparts[name.get<std::string>()] = sentence;
    }
  }

  std::vector<std::string> training;
  Names counterparts, families;
};

const Programs& programs() {
  static const Programs read;
  return read;
}

// The text beside a name; null for none.
const char* find(const Names& names, const std::string& name) {
  const auto found = names.find(name);
  return found == names.end() ? nullptr : found->second.c_str();
}

}  // namespace

bool is_training_program(const std::string& name) {
  return std::ranges::count(programs().training, name) > 0;
}

const char* counterpart_of(const std::string& name) { return find(programs().counterparts, name); }

const char* foreign_family(const std::string& name) {
  const std::string last = name.substr(name.find_last_of('/') + 1);  // npos + 1 is 0
  std::string part;
  for (size_t i = 0; i <= last.size(); ++i) {
    const auto letter = i < last.size() ? static_cast<unsigned char>(last[i]) : '\0';
    if (std::isalnum(letter) != 0) {
      part += static_cast<char>(std::tolower(letter));
      continue;
    }
    if (const char* family = find(programs().families, part)) return family;
    part.clear();
  }
  return nullptr;
}

}  // namespace cloze::configuration

#include "cli/options/option_table.h"
#include "cli/options/option_value.h"

namespace cloze::cli {
namespace {

using nlohmann::ordered_json;

ordered_json type_of(const bool*) { return "boolean"; }
ordered_json type_of(const std::optional<bool>*) { return "boolean"; }
ordered_json type_of(const double*) { return "number"; }
ordered_json type_of(const std::optional<double>*) { return "number"; }
ordered_json type_of(const std::vector<double>*) { return {"number", "array"}; }
ordered_json type_of(const std::vector<std::string>*) { return {"string", "array"}; }
ordered_json type_of(const std::vector<std::filesystem::path>*) { return {"string", "array"}; }
ordered_json type_of(const std::string*) { return {"string", "integer", "array"}; }
ordered_json type_of(const std::filesystem::path*) { return "string"; }
ordered_json type_of(const std::map<int64_t, double>*) { return "object"; }
ordered_json type_of(const NamedValue&) { return {"string", "integer"}; }
template <typename Integer>
ordered_json type_of(const Integer*) {
  return "integer";
}

// null leaves the default.
ordered_json with_null(ordered_json types) {
  if (!types.is_array()) types = ordered_json::array({types});
  types.push_back("null");
  return types;
}

// "16" may be written as a number too.
ordered_json choices_of(const std::vector<std::string>& choices) {
  ordered_json values = ordered_json::array();
  for (const std::string& choice : choices) {
    values.push_back(choice);
    const auto number = nlohmann::json::parse(choice, nullptr, false);
    if (number.is_number()) values.push_back(ordered_json(number));
  }
  values.push_back(nullptr);
  return values;
}

ordered_json schema_of(const Option& option, const ordered_json& default_value) {
  const OptionRules& rules = option.rules;
  ordered_json schema = {{"description", option.help}};
  schema["type"] =
      with_null(std::visit([](const auto& target) { return type_of(target); }, option.target));
  if (!rules.choices.empty()) schema["enum"] = choices_of(rules.choices);
  if (rules.minimum) schema["minimum"] = *rules.minimum;
  if (rules.maximum) schema["maximum"] = *rules.maximum;
  if (!default_value.is_null()) schema["default"] = default_value;
  return schema;
}

}  // namespace

ordered_json OptionTable::schema() const {
  ordered_json properties = ordered_json::object();
  for (const Entry& entry : entries_) {
    properties[entry.option.name] = schema_of(entry.option, entry.default_value);
  }
  for (const auto& [alias, flag] : aliases_) {
    properties[alias.name] = {{"description", "Hugging Face's name of " + alias.option}};
  }
  for (const auto& [option, flag] : foreign_) {
    properties[option.name] = {
        {"description", (option.is_refused ? "Not here: " : "No effect here: ") + option.reason},
        {"deprecated", true}};
  }
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"type", "object"},
          {"properties", properties},
          {"additionalProperties", false}};
}

}  // namespace cloze::cli

#include <fmt/ranges.h>

#include "cli/options/option_table.h"
#include "cli/options/option_value.h"

namespace cloze::cli {
namespace {

using formats::Json;

Json type_of(const bool*) { return "boolean"; }
Json type_of(const std::optional<bool>*) { return "boolean"; }
Json type_of(const double*) { return "number"; }
Json type_of(const std::optional<double>*) { return "number"; }
Json type_of(const std::vector<double>*) { return {"number", "array"}; }
Json type_of(const std::vector<std::string>*) { return {"string", "array"}; }
Json type_of(const std::vector<std::filesystem::path>*) { return {"string", "array"}; }
Json type_of(const std::string*) { return {"string", "integer", "array"}; }
Json type_of(const std::filesystem::path*) { return "string"; }
Json type_of(const std::map<int64_t, double>*) { return "object"; }
Json type_of(const NamedValue&) { return {"string", "integer"}; }
template <typename Integer>
Json type_of(const Integer*) {
  return "integer";
}

// null leaves the default.
Json with_null(Json types) {
  if (!types.is_array()) types = Json::array({types});
  types.push_back("null");
  return types;
}

// "16" may be written as a number too.
Json choices_of(const std::vector<std::string>& choices) {
  Json values = Json::array();
  for (const std::string& choice : choices) {
    values.push_back(choice);
    const Result<Json> number = formats::parse_json(choice);
    if (number && number->is_number()) values.push_back(*number);
  }
  values.push_back(nullptr);
  return values;
}

Json schema_of(const Option& option, const Json& default_value) {
  const OptionRules& rules = option.rules;
  Json schema = {{"description", option.help}};
  schema["type"] =
      with_null(std::visit([](const auto& target) { return type_of(target); }, option.target));
  std::vector<std::string> choices = rules.choices;
  choices.insert(choices.end(), rules.choices_of_tests.begin(), rules.choices_of_tests.end());
  if (!choices.empty() && rules.are_choices_numbered) {
    schema["pattern"] = fmt::format("^({})(:.*)?$", fmt::join(choices, "|"));
  } else if (!choices.empty()) {
    schema["enum"] = choices_of(choices);
  }
  if (rules.minimum) schema["minimum"] = *rules.minimum;
  if (rules.maximum) schema["maximum"] = *rules.maximum;
  if (!default_value.is_null()) schema["default"] = default_value;
  return schema;
}

}  // namespace

Json OptionTable::schema() const {
  Json properties = Json::object();
  for (const OptionEntry& entry : entries_) {
    properties[entry.option.name] = schema_of(entry.option, entry.default_value);
  }
  for (const auto& [alias, flag] : foreign_.aliases) {
    properties[alias.name] = {{"description", "Hugging Face's name of " + alias.option}};
  }
  for (const auto& [option, flag] : foreign_.options) {
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

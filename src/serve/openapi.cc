#include "serve/openapi.h"

#include <utility>

namespace cloze::serve {
namespace {

using formats::Json;

struct FormRow {
  ErrorForm form;
  const char* name;  // of its schema
};
constexpr FormRow kForms[] = {
    {ErrorForm::kOwn, "Error"}, {ErrorForm::kTei, "TeiError"}, {ErrorForm::kOpenAi, "OpenAiError"}};

// A schema that has the members of an error of this form.
Json schema_of(const Json& value) {
  if (!value.is_object()) return {{"type", value.is_null() ? "null" : value.type_name()}};
  Json properties = Json::object();
  for (const auto& [name, member] : value.items()) properties[name] = schema_of(member);
  return {{"type", "object"}, {"properties", std::move(properties)}};
}

Json schemas() {
  Json schemas = Json::object();
  for (const FormRow& row : kForms) {
    schemas[row.name] = schema_of(Json::parse(error_response(row.form, 400, "").body));
  }
  return schemas;
}

Json reference_to_error(ErrorForm form) {
  for (const FormRow& row : kForms) {
    if (row.form == form) return {{"$ref", std::string("#/components/schemas/") + row.name}};
  }
  return Json::object();
}

Json body_of(const Endpoint& endpoint) {
  Json properties = Json::object(), required = Json::array();
  for (const BodyField& field : endpoint.fields) {
    properties[field.name] = field_schema(field);
    if (field.is_required) required.push_back(field.name);
  }
  Json content = {{"schema", {{"type", "object"}, {"properties", std::move(properties)}}}};
  if (!required.empty()) content["schema"]["required"] = std::move(required);
  if (!endpoint.example.is_null()) content["example"] = endpoint.example;
  return {{"required", true}, {"content", {{"application/json", std::move(content)}}}};
}

Json operation_of(const Endpoint& endpoint, bool has_key) {
  Json operation = {{"summary", endpoint.summary}};
  if (endpoint.takes_body()) operation["requestBody"] = body_of(endpoint);
  operation["responses"] = {
      {"200", {{"description", endpoint.reply}}},
      {"default",
       {{"description", "An error"},
        {"content", {{"application/json", {{"schema", reference_to_error(endpoint.errors)}}}}}}}};
  if (has_key && !endpoint.is_public) {
    operation["security"] = Json::array({Json::object({{"key", Json::array()}})});
  }
  return operation;
}

}  // namespace

Json openapi_document(const std::vector<Endpoint>& endpoints, const OpenapiOptions& options) {
  Json paths = Json::object();
  for (const Endpoint& endpoint : endpoints) {
    paths[endpoint.path][endpoint.takes_body() ? "post" : "get"] =
        operation_of(endpoint, options.has_key);
  }
  Json components = {{"schemas", schemas()}};
  if (options.has_key) {
    components["securitySchemes"] = {{"key", {{"type", "http"}, {"scheme", "bearer"}}}};
  }
  return {{"openapi", "3.1.0"},
          {"info", {{"title", options.title}, {"version", "1"}}},
          {"paths", std::move(paths)},
          {"components", std::move(components)}};
}

}  // namespace cloze::serve

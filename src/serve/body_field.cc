#include "serve/body_field.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "serve/failure.h"

namespace cloze::serve {
namespace {

using formats::Json;

constexpr size_t kQuotedBytes = 40;  // of what a client sent, in an error

Json list_schema(Json items) { return {{"type", "array"}, {"items", std::move(items)}}; }

Json one_of(Json::Array schemas) { return {{"oneOf", std::move(schemas)}}; }

Json plain_schema(const BodyField& field) {
  const Json text = {{"type", "string"}}, number = {{"type", "integer"}, {"minimum", 0}};
  switch (field.kind) {
    case FieldKind::kText:
      return text;
    case FieldKind::kTexts:
      return one_of({text, list_schema(text)});
    case FieldKind::kTextList:
      return list_schema(text);
    case FieldKind::kDocuments:
      return list_schema(one_of({text, {{"type", "object"}, {"properties", {{"text", text}}}}}));
    case FieldKind::kPairs:
      return one_of({text, list_schema(text), list_schema(list_schema(text))});
    case FieldKind::kIds:
      return one_of({list_schema(number), list_schema(list_schema(number))});
    case FieldKind::kSwitch:
      return {{"type", "boolean"}};
    case FieldKind::kCount:
      return {{"type", "integer"}, {"minimum", 1}};
    case FieldKind::kChoice:
      return {{"type", "string"}, {"enum", Json(field.choices)}};
    case FieldKind::kObject:
      return {{"type", "object"}};
    case FieldKind::kInputs:
      return list_schema({{"type", "object"}});
  }
  CLOZE_CHECK(false, "a field of no kind");
}

bool is_index(const Json& value) { return value.is_number_unsigned(); }

bool are_all(const Json& list, bool (*is_one)(const Json&)) {
  return list.is_array() && std::ranges::all_of(list, is_one);
}

bool is_text(const Json& value) { return value.is_string(); }
bool is_text_list(const Json& value) { return are_all(value, is_text); }
bool is_document(const Json& value) {
  const Json* text = value.find("text");
  return value.is_string() || (text != nullptr && text->is_string());
}
bool is_index_list(const Json& value) { return are_all(value, is_index); }

// Says, for a message, what a value must be; "" when it is.
std::string wanted(const BodyField& field, const Json& value) {
  const auto unless = [](bool is_good, std::string words) {
    return is_good ? std::string() : std::move(words);
  };
  switch (field.kind) {
    case FieldKind::kText:
      return unless(is_text(value), "a text in quotes");
    case FieldKind::kTexts:
      return unless(is_text(value) || is_text_list(value),
                    "a text, or a list of texts (token ids are not taken)");
    case FieldKind::kTextList:
      return unless(is_text_list(value), "a list of texts");
    case FieldKind::kDocuments:
      return unless(are_all(value, is_document), "a list of texts, or of objects with \"text\"");
    case FieldKind::kPairs:
      return unless(is_text(value) || is_text_list(value) || are_all(value, is_text_list),
                    "a text, a pair of texts, or a list of [text] and [text, text]");
    case FieldKind::kIds:
      return unless(is_index_list(value) || are_all(value, is_index_list),
                    "a list of token ids, or a list of such lists");
    case FieldKind::kSwitch:
      return unless(value.is_boolean(), "true or false");
    case FieldKind::kCount:
      return unless(is_index(value) && value.get<int64_t>() >= 1, "a whole number from 1 on");
    case FieldKind::kChoice:
      return unless(is_text(value) && std::ranges::count(field.choices, value.get<std::string>()),
                    fmt::format("one of {}", fmt::join(field.choices, ", ")));
    case FieldKind::kObject:
      return unless(value.is_object(), "an object");
    case FieldKind::kInputs:
      break;  // our own endpoints read theirs themselves
  }
  CLOZE_CHECK(false, "a field of no kind that is read here");
}

// Shows a value that is wrong, for a message.
std::string shown(const Json& value) {
  const bool is_short = value.is_boolean() || value.is_number() || value.is_string();
  const std::string text = is_short ? formats::json_line(value) : value.type_name();
  return text.size() > kQuotedBytes ? text.substr(0, kQuotedBytes) + "..." : text;
}

// The texts of a value, however deep they lie in lists.
void check_texts(const Json& value, const std::string& name, const Limits& limits) {
  if (value.is_string()) {
    body_text(value, name, limits);
  } else if (value.is_array()) {
    for (const Json& one : value) check_texts(one, name + "[]", limits);
  } else if (const Json* text = value.find("text")) {
    check_texts(*text, name, limits);
  }
}

void check(const BodyField& field, const Json& value, const Limits& limits) {
  if (const std::string must_be = wanted(field, value); !must_be.empty()) {
    refuse(Trouble::kInvalid, "\"{}\" is {}; give {}", field.name, shown(value), must_be);
  }
  if (value.is_array() && value.empty()) {
    refuse(Trouble::kEmpty, "\"{}\" is empty; give at least one", field.name);
  }
  if (value.is_array() && field.kind != FieldKind::kIds &&
      std::ssize(value) > limits.inputs_per_request) {
    refuse(Trouble::kTooLarge, "\"{}\" has {} entries, more than {}; send several requests",
           field.name, value.size(), limits.inputs_per_request);
  }
  if (field.kind != FieldKind::kObject) check_texts(value, field.name, limits);
}

}  // namespace

Json field_schema(const BodyField& field) {
  Json schema = plain_schema(field);
  schema["description"] = field.help;
  if (!field.otherwise.is_null()) schema["default"] = field.otherwise;
  return schema;
}

std::string body_text(const Json& value, std::string_view name, const Limits& limits) {
  if (!value.is_string()) {
    refuse(Trouble::kInvalid, "\"{}\" is {}; give it a text in quotes", name, value.type_name());
  }
  auto text = value.get<std::string>();
  if (std::ssize(text) > limits.text_bytes) {
    refuse(Trouble::kTooLarge, "\"{}\" has {} bytes, more than {}; shorten it", name, text.size(),
           limits.text_bytes);
  }
  return text;
}

Json json_body(std::string_view text) {
  Result<Json> parsed = formats::parse_json(text);
  if (!parsed) {
    const formats::TextPosition at = formats::position_at(text, parsed.error().offset);
    refuse(Trouble::kInvalid, "the body is not JSON: line {}, column {}: {}", at.line, at.column,
           parsed.error().message);
  }
  return std::move(*parsed);
}

Body::Body(std::string_view text, std::span<const BodyField> fields, const Limits& limits)
    : Body(json_body(text), fields, limits) {}

Body::Body(const Json& sent, std::span<const BodyField> fields, const Limits& limits) {
  if (!sent.is_object()) {
    refuse(Trouble::kInvalid, "the body is {}; give an object with \"{}\"", sent.type_name(),
           fields.front().name);
  }
  for (const BodyField& field : fields) {
    const Json* found = sent.find(field.name);
    const bool is_given = found != nullptr && !found->is_null();
    if (!is_given && field.is_required) {
      refuse(Trouble::kInvalid, "\"{}\" is missing; give {}", field.name, wanted(field, Json()));
    }
    if (is_given) check(field, *found, limits);
    values_[field.name] = is_given ? *found : field.otherwise;
  }
}

std::string Body::text(std::string_view name) const {
  return has(name) ? at(name).get<std::string>() : "";
}

std::optional<int64_t> Body::count(std::string_view name) const {
  return has(name) ? std::optional(at(name).get<int64_t>()) : std::nullopt;
}

std::vector<std::string> Body::texts(std::string_view name) const {
  const Json& value = at(name);
  if (value.is_string()) return {value.get<std::string>()};
  std::vector<std::string> texts;
  for (const Json& one : value) {
    texts.push_back(one.is_string() ? one.get<std::string>() : one.at("text").get<std::string>());
  }
  return texts;
}

std::vector<std::vector<int64_t>> Body::id_lists(std::string_view name) const {
  const Json& value = at(name);
  if (value.front().is_array()) return value.get<std::vector<std::vector<int64_t>>>();
  return {value.get<std::vector<int64_t>>()};
}

}  // namespace cloze::serve

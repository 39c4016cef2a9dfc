// The fields of a request's body as a table: what reads them, what describes them to clients
// (openapi.h), and how messages call them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"
#include "serve/limits.h"

namespace cloze::serve {

enum class FieldKind {
  kText,
  kTexts,      // a text, or a list of texts
  kTextList,   // a list of texts
  kDocuments,  // a list of texts, or of objects {"text"}
  kPairs,      // a text, a pair [a, b], or a list of [a] and [a, b]
  kIds,        // a list of whole numbers, or a list of such lists
  kSwitch,
  kCount,   // a whole number from 1 on
  kChoice,  // one of `choices`
  kObject,  // with fields of its own; its reader checks them
  kInputs,  // a list of our own inputs (own_form.h)
};

struct BodyField {
  std::string name;
  FieldKind kind = FieldKind::kText;
  std::string help;
  bool is_required = false;
  formats::Json otherwise = {};  // the value when it is left out; null: none
  std::vector<std::string_view> choices = {};
};

// The JSON schema of one.
formats::Json field_schema(const BodyField& field);

// A body whose fields are of their kinds. null counts as left out, and a name that no field has is
// passed over, as TEI and OpenAI do. A function that is asked for another kind than the field's
// fails as formats::Json does.
class Body {
 public:
  // `text` and `fields` are used only here. Failure (failure.h) for what is no such body.
  Body(std::string_view text, std::span<const BodyField> fields, const Limits& limits);
  // The same of an object that lies in a body.
  Body(const formats::Json& object, std::span<const BodyField> fields, const Limits& limits);

  bool has(std::string_view name) const { return !at(name).is_null(); }
  const formats::Json& at(std::string_view name) const { return values_.at(name); }
  bool flag(std::string_view name) const { return at(name).get<bool>(); }
  std::string text(std::string_view name) const;
  std::optional<int64_t> count(std::string_view name) const;
  // The texts of a kTexts, kTextList or kDocuments.
  std::vector<std::string> texts(std::string_view name) const;
  std::vector<std::vector<int64_t>> id_lists(std::string_view name) const;
  bool is_list(std::string_view name) const { return at(name).is_array(); }

 private:
  formats::Json values_ = formats::Json::object();  // of every field
};

// A text of a body within the limit. Failure that names the field.
std::string body_text(const formats::Json& value, std::string_view name, const Limits& limits);

// The body as JSON. Failure with the place where it is none.
formats::Json json_body(std::string_view text);

}  // namespace cloze::serve

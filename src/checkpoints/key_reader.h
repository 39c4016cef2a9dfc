// Reads keys of a JSON object of a configuration into fields, which keep their value when the key is
// absent or null. UserError that names the source, the key and the value when it is of another kind.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "formats/json.h"

namespace cloze::checkpoints {

class KeyReader {
 public:
  // `source` names the file in messages. Both must outlive the reader.
  KeyReader(const formats::Json& object, const std::string& source)
      : object_(object), source_(source) {}

  void read(const char* key, int64_t& field) const {
    take(key, &formats::Json::is_number_integer, "a whole number", field);
  }
  void read(const char* key, double& field) const {
    take(key, &formats::Json::is_number, "a number", field);
  }
  void read(const char* key, bool& field) const {
    take(key, &formats::Json::is_boolean, "true or false", field);
  }
  void read(const char* key, std::string& field) const {
    take(key, &formats::Json::is_string, "text", field);
  }
  // The key, where present, must hold this value.
  template <typename T>
  void require(const char* key, T wanted) const {
    T value = wanted;
    read(key, value);
    if (value != wanted) {
      throw_user_error("{}: {} is {}; only {} is supported", source_, key,
                       formats::Json(value).dump(), formats::Json(wanted).dump());
    }
  }
  // The value; null when the key is absent or null.
  const formats::Json* find(const char* key) const {
    const auto found = object_.find(key);
    return !found || found->is_null() ? nullptr : found;
  }
  // UserError: the value is not what is `wanted`, "a whole number".
  [[noreturn]] void refuse(const char* key, const formats::Json& value, const char* wanted) const {
    throw_user_error("{}: {} is {}; it must be {}", source_, key, formats::json_line(value),
                     wanted);
  }
  const std::string& source() const { return source_; }

 private:
  template <typename T>
  void take(const char* key, bool (formats::Json::*is_right)() const, const char* wanted,
            T& field) const {
    const formats::Json* value = find(key);
    if (value == nullptr) return;
    if (!(value->*is_right)()) refuse(key, *value, wanted);
    field = value->get<T>();
  }

  const formats::Json& object_;
  const std::string& source_;
};

}  // namespace cloze::checkpoints

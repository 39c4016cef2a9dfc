// A JSON value, and JSON text to and from it, with the limits that text from outside needs: nesting
// of at most 64, no key twice in one object, valid UTF-8, numbers in range. Comments (// and /* */)
// are skipped. Source: RFC 8259; comments as in JSONC.
//
// Only json.cc includes the library that parses: its header costs each file that includes it ten
// seconds to compile.
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace cloze::formats {

inline constexpr int kMaxJsonDepth = 64;

// A value was asked for that is not there, or is of another kind. Readers of files turn it into an
// error with the file's name.
class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Json;
struct JsonMember;

// The members of an object, in the order in which they came. Names are unique.
class JsonObject {
 public:
  Json* find(std::string_view name);
  const Json* find(std::string_view name) const;
  Json& add(std::string name, Json value);  // whose name is new
  size_t erase(std::string_view name);      // how many
  const std::vector<JsonMember>& members() const { return members_; }
  std::vector<JsonMember>& members() { return members_; }

 private:
  size_t place_of(std::string_view name) const;
  void index_members();

  std::vector<JsonMember> members_;
  std::map<std::string, size_t, std::less<>> places_;  // empty while there are few members
};

template <class T>
concept JsonText = std::convertible_to<T, std::string_view> || std::convertible_to<T, std::string>;
template <class T>
concept JsonMap = requires {
  typename T::mapped_type;
};
template <class T>
concept JsonList = std::ranges::input_range<T> && !JsonText<T> && !JsonMap<T>;
// A struct is stored once its members have names, in its own namespace:
//   constexpr auto json_members(const Counts*) {
//     return std::tuple{JsonName{"pages", &Counts::pages}, JsonName{"cut", &Counts::cut}};
//   }
template <class T>
concept JsonStruct = requires(const T* type) {
  json_members(type);
};
template <class Struct, class Member>
struct JsonName {
  const char* name;
  Member Struct::*member;
};

// Null, true or false, a number, a text, an array or an object. A number is an integer (int64_t or,
// above its range, uint64_t) or a double; integers convert into each other as C++ does. Values are
// equal when they have the same content: 1 equals 1.0, and the order of members does not count.
class Json {
 public:
  using Array = std::vector<Json>;

  Json() = default;
  Json(std::nullptr_t) {}
  template <std::same_as<bool> T>
  Json(T value) : value_(value) {}
  template <std::signed_integral T>
  Json(T value) : value_(static_cast<int64_t>(value)) {}
  template <std::unsigned_integral T>
  requires(!std::same_as<T, bool>) Json(T value) : value_(static_cast<uint64_t>(value)) {}
  template <std::floating_point T>
  Json(T value) : value_(static_cast<double>(value)) {}
  template <JsonText T>
  Json(const T& text) : value_(std::string(text)) {}
  Json(std::string&& text) : value_(std::move(text)) {}
  Json(Array items) : value_(std::move(items)) {}
  template <JsonList T>
  Json(const T& items) : value_(Array()) {
    for (auto&& item : items) push_back(static_cast<const std::ranges::range_value_t<T>&>(item));
  }
  template <JsonMap T>
  Json(const T& members) : Json(object()) {
    for (const auto& [name, value] : members) (*this)[name] = value;
  }
  template <JsonStruct T>
  Json(const T& value) : Json(object()) {
    const auto add = [&](auto& names) { (*this)[names.name] = value.*names.member; };
    std::apply([&](const auto&... names) { (add(names), ...); }, json_members(&value));
  }
  // {{"a", 1}, {"b", 2}} is an object: all items are pairs that begin with a text. Anything else is
  // an array; array({...}) always is one.
  Json(std::initializer_list<Json> items);
  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(Json other) noexcept;  // by value, so that it may be a part of this one
  ~Json();

  static Json object(std::initializer_list<Json> members = {});
  static Json array(std::initializer_list<Json> items = {});
  // JsonError where parse_json has an error.
  static Json parse(std::string_view text);

  bool is_null() const { return holds<std::nullptr_t>(); }
  bool is_boolean() const { return holds<bool>(); }
  bool is_number_unsigned() const;  // an integer that is not negative
  bool is_number_integer() const { return holds<int64_t>() || holds<uint64_t>(); }
  bool is_number_float() const { return holds<double>(); }
  bool is_number() const { return is_number_integer() || is_number_float(); }
  bool is_string() const { return holds<std::string>(); }
  bool is_array() const { return holds<Array>(); }
  bool is_object() const { return holds<JsonObject>(); }
  // "null", "boolean", "number", "string", "array" or "object".
  const char* type_name() const;

  // The value as a T: bool, a number, std::string, a container of such values, a map from names to
  // such values, or a struct. JsonError when it is of another kind, or a member is absent.
  template <class T>
  T get() const;

  size_t size() const;  // of an array or object; 0 for null, otherwise 1
  bool empty() const { return size() == 0; }

  // Objects. The functions that change one make null an object first.
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  const Json* find(std::string_view name) const;  // nullptr when absent, or when this is no object
  Json* find(std::string_view name);
  const Json& at(std::string_view name) const;  // JsonError when absent
  Json& at(std::string_view name);
  const Json& operator[](std::string_view name) const { return at(name); }
  Json& operator[](std::string_view name);  // adds null when absent
  template <class T>
  T value(std::string_view name, T otherwise) const {
    const Json* found = as_object().find(name);
    return found ? found->get<T>() : otherwise;
  }
  std::string value(std::string_view name, const char* otherwise) const {
    return value(name, std::string(otherwise));
  }
  size_t erase(std::string_view name);
  void update(const Json& members);
  std::span<const JsonMember> items() const;  // none for null
  std::span<JsonMember> items();

  // Arrays. The functions that change one make null an array first.
  const Json& at(size_t index) const;  // JsonError when it is out of range
  Json& at(size_t index);
  const Json& operator[](size_t index) const { return at(index); }
  Json& operator[](size_t index) { return at(index); }
  void push_back(Json item);
  const Json& front() const { return at(size_t{0}); }
  const Json& back() const { return at(size() - 1); }
  Json& back() { return at(size() - 1); }
  // The first of an array's items; JsonError for another kind.
  const Json* begin() const { return elements().data(); }
  const Json* end() const { return begin() + elements().size(); }
  Json* begin();
  Json* end() { return begin() + size(); }

  // Writes it on one line, or with `indent` spaces a level. Bytes that are not UTF-8 become U+FFFD,
  // numbers that are not finite become null.
  std::string dump(int indent = -1) const;

  friend bool operator==(const Json& left, const Json& right);

 private:
  template <class T>
  bool holds() const {
    return std::holds_alternative<T>(value_);
  }
  template <class T>
  static void read_member(const Json& json, T& member) {
    member = json.get<T>();
  }
  const JsonObject& as_object() const;
  JsonObject& as_object();
  const Array& elements() const;
  bool boolean() const;
  template <class Number>
  Number number() const;
  const std::string& text() const;

  std::variant<std::nullptr_t, bool, int64_t, uint64_t, double, std::string, Array, JsonObject>
      value_;
};

struct JsonMember {
  std::string name;
  Json value;
};

template <class T>
T Json::get() const {
  if constexpr (std::same_as<T, Json>) {
    return *this;
  } else if constexpr (std::same_as<T, bool>) {
    return boolean();
  } else if constexpr (std::floating_point<T>) {
    return static_cast<T>(number<double>());
  } else if constexpr (std::unsigned_integral<T>) {
    return static_cast<T>(number<uint64_t>());
  } else if constexpr (std::signed_integral<T>) {
    return static_cast<T>(number<int64_t>());
  } else if constexpr (std::same_as<T, std::string>) {
    return text();
  } else if constexpr (JsonMap<T>) {
    T values;
    for (const JsonMember& member : items()) {
      values[member.name] = member.value.template get<typename T::mapped_type>();
    }
    return values;
  } else if constexpr (std::ranges::range<T>) {
    T values;
    for (const Json& item : elements())
      values.insert(values.end(), item.get<typename T::value_type>());
    return values;
  } else {
    T value;
    const auto read = [&](auto& names) { read_member(at(names.name), value.*names.member); };
    std::apply([&](const auto&... names) { (read(names), ...); }, json_members(&value));
    return value;
  }
}

// A place in a text, both counted from 1; the column counts bytes.
struct TextPosition {
  int64_t line = 1;
  int64_t column = 1;
};
TextPosition position_at(std::string_view text, uint64_t offset);
// "config.json:3:14: MESSAGE", for an error in the text of a file.
std::string message_at(const std::filesystem::path& file, std::string_view text,
                       const ParseError& error);

// The error's message does not name the place; its offset does.
Result<Json> parse_json(std::string_view text);
// The text with \ufffd for each escape \ud800 to \udfff that is not half of a pair. RFC 8259 leaves
// such escapes open: Python writes and reads them, parse_json refuses them.
std::string replace_lone_surrogates(std::string_view text);
// DataError "config.json:3:14: ..." when the text is not such JSON.
Json read_json_file(const std::filesystem::path& path);

// Text of a value, two spaces a level, newline at the end.
std::string json_text(const Json& value);
// The same on one line, without the newline.
std::string json_line(const Json& value);

// Says how two objects of named values differ, for a message: "seed 1234, this run has 5; ...".
// Lists the names that both have and whose values differ, in the order of the names, with `word`
// ("this run has") between the two values. Empty when none does; a name that only one of them has
// is left alone.
std::string value_differences(const Json& stored, const Json& current, std::string_view word);

// A number that is not finite is written as null.
inline double number_or_nan(const Json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

// The value, null for none.
template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

}  // namespace cloze::formats

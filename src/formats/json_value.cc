#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "formats/json.h"

namespace cloze::formats {
namespace {

// Below this many members a search from the first to the last is faster.
constexpr size_t kIndexedMembers = 16;

// Numbers are equal when their values are, whether they are integers or doubles.
bool equal_numbers(const Json& left, const Json& right) {
  if (left.is_number_float() || right.is_number_float()) {
    return left.get<double>() == right.get<double>();
  }
  if (left.is_number_unsigned() != right.is_number_unsigned()) return false;
  return left.get<uint64_t>() == right.get<uint64_t>();
}

bool equal_objects(const Json& left, const Json& right) {
  return left.size() == right.size() && std::ranges::all_of(left.items(), [&](auto& member) {
           const Json* other = right.find(member.name);
           return other && *other == member.value;
         });
}

[[noreturn]] void refuse(const Json& value, std::string_view wanted) {
  throw JsonError(fmt::format("the value is {}, not {}", value.type_name(), wanted));
}

}  // namespace

const Json* JsonObject::find(std::string_view name) const {
  const size_t place = place_of(name);
  return place == members_.size() ? nullptr : &members_[place].value;
}

Json* JsonObject::find(std::string_view name) {
  return const_cast<Json*>(std::as_const(*this).find(name));
}

size_t JsonObject::place_of(std::string_view name) const {
  if (!places_.empty()) {
    const auto found = places_.find(name);
    return found == places_.end() ? members_.size() : found->second;
  }
  const auto found = std::ranges::find(members_, name, &JsonMember::name);
  return static_cast<size_t>(found - members_.begin());
}

Json& JsonObject::add(std::string name, Json value) {
  members_.push_back({std::move(name), std::move(value)});
  if (!places_.empty()) {
    places_.emplace(members_.back().name, members_.size() - 1);
  } else if (members_.size() == kIndexedMembers) {
    index_members();
  }
  return members_.back().value;
}

size_t JsonObject::erase(std::string_view name) {
  const size_t erased = std::erase_if(members_, [&](auto& member) { return member.name == name; });
  places_.clear();
  if (members_.size() >= kIndexedMembers) index_members();
  return erased;
}

void JsonObject::index_members() {
  for (size_t i = 0; i < members_.size(); ++i) places_.emplace(members_[i].name, i);
}

Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(Json other) noexcept {
  value_.swap(other.value_);
  return *this;
}
Json::~Json() = default;

Json::Json(std::initializer_list<Json> items) {
  const bool is_object = std::ranges::all_of(items, [](const Json& item) {
    return item.is_array() && item.size() == 2 && item[size_t{0}].is_string();
  });
  *this = is_object ? object(items) : array(items);
}

Json Json::object(std::initializer_list<Json> members) {
  Json result;
  result.value_ = JsonObject();
  for (const Json& pair : members) result[pair.at(size_t{0}).text()] = pair.at(1);
  return result;
}

Json Json::array(std::initializer_list<Json> items) {
  Json result;
  result.value_ = Array(items);
  return result;
}

Json Json::parse(std::string_view text) {
  Result<Json> parsed = parse_json(text);
  if (!parsed) throw JsonError(parsed.error().message);
  return std::move(parsed).value();
}

bool Json::is_number_unsigned() const {
  const int64_t* number = std::get_if<int64_t>(&value_);
  return holds<uint64_t>() || (number && *number >= 0);
}

const char* Json::type_name() const {
  constexpr const char* kNames[] = {"null",   "boolean", "number", "number",
                                    "number", "string",  "array",  "object"};
  static_assert(std::size(kNames) == std::variant_size_v<decltype(value_)>);
  return kNames[value_.index()];
}

size_t Json::size() const {
  if (is_null()) return 0;
  if (is_array()) return elements().size();
  return is_object() ? items().size() : 1;
}

const JsonObject& Json::as_object() const {
  if (!is_object()) refuse(*this, "an object");
  return std::get<JsonObject>(value_);
}

JsonObject& Json::as_object() {
  if (is_null()) value_ = JsonObject();
  return const_cast<JsonObject&>(std::as_const(*this).as_object());
}

const Json::Array& Json::elements() const {
  if (!is_array()) refuse(*this, "an array");
  return std::get<Array>(value_);
}

const Json* Json::find(std::string_view name) const {
  return is_object() ? as_object().find(name) : nullptr;
}

Json* Json::find(std::string_view name) { return is_object() ? as_object().find(name) : nullptr; }

const Json& Json::at(std::string_view name) const {
  const Json* found = as_object().find(name);
  if (!found) throw JsonError(fmt::format("\"{}\" is missing", name));
  return *found;
}

Json& Json::at(std::string_view name) { return const_cast<Json&>(std::as_const(*this).at(name)); }

Json& Json::operator[](std::string_view name) {
  JsonObject& members = as_object();
  Json* found = members.find(name);
  return found ? *found : members.add(std::string(name), {});
}

size_t Json::erase(std::string_view name) { return as_object().erase(name); }

void Json::update(const Json& members) {
  for (const JsonMember& member : members.items()) (*this)[member.name] = member.value;
}

std::span<const JsonMember> Json::items() const {
  if (is_null()) return {};
  return as_object().members();
}

std::span<JsonMember> Json::items() {
  if (is_null()) return {};
  return as_object().members();
}

const Json& Json::at(size_t index) const {
  if (index >= elements().size()) {
    throw JsonError(fmt::format("there is no item {} of {}", index, elements().size()));
  }
  return elements()[index];
}

Json& Json::at(size_t index) { return const_cast<Json&>(std::as_const(*this).at(index)); }

void Json::push_back(Json item) {
  if (is_null()) value_ = Array();
  const_cast<Array&>(elements()).push_back(std::move(item));
}

Json* Json::begin() { return const_cast<Array&>(elements()).data(); }

bool Json::boolean() const {
  if (!is_boolean()) refuse(*this, "true or false");
  return std::get<bool>(value_);
}

const std::string& Json::text() const {
  if (!is_string()) refuse(*this, "a text");
  return std::get<std::string>(value_);
}

template <class Number>
Number Json::number() const {
  if (!is_number()) refuse(*this, "a number");
  return std::visit(
      [](const auto& value) -> Number {
        if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(value)>>) {
          return static_cast<Number>(value);
        } else {
          return {};
        }
      },
      value_);
}
template int64_t Json::number<int64_t>() const;
template uint64_t Json::number<uint64_t>() const;
template double Json::number<double>() const;

bool operator==(const Json& left, const Json& right) {
  if (left.is_number() && right.is_number()) return equal_numbers(left, right);
  if (left.value_.index() != right.value_.index()) return false;
  if (left.is_object()) return equal_objects(left, right);
  if (left.is_array()) return std::ranges::equal(left, right);
  if (left.is_string()) return left.text() == right.text();
  return left.is_null() || left.boolean() == right.boolean();
}

}  // namespace cloze::formats

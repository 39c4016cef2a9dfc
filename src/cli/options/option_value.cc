#include "cli/options/option_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/error.h"
#include "formats/json.h"
#include "models/bert_fields.h"

namespace cloze::cli {
namespace {

using nlohmann::json;

struct Context {
  const Option& option;
  const json& value;
  const std::string& source;

  [[noreturn]] void refuse(const std::string& wanted) const {
    throw_user_error("{}: {} is {}; {}", source, option.name, formats::json_line(value), wanted);
  }
};

void check_range(const Context& context, double number) {
  const Option& option = context.option;
  if (option.minimum && option.maximum && (number < *option.minimum || number > *option.maximum)) {
    context.refuse(fmt::format("it must be from {} to {}", *option.minimum, *option.maximum));
  }
  if (option.minimum && number < *option.minimum) {
    context.refuse(fmt::format("it must be at least {}", *option.minimum));
  }
}

void store(const Context& context, bool& target) {
  if (!context.value.is_boolean()) context.refuse("it must be true or false");
  target = context.value.get<bool>();
}

void store(const Context& context, int64_t& target) {
  const json& value = context.value;
  const bool fits = value.is_number_unsigned() ? value.get<uint64_t>() <= INT64_MAX
                    : value.is_number_float()
                        ? std::trunc(value.get<double>()) == value.get<double>() &&
                              std::abs(value.get<double>()) < 0x1p53
                        : value.is_number_integer();
  if (!fits) context.refuse("it must be a whole number");
  target =
      value.is_number_float() ? static_cast<int64_t>(value.get<double>()) : value.get<int64_t>();
  check_range(context, static_cast<double>(target));
}

void store(const Context& context, double& target) {
  if (!context.value.is_number()) context.refuse("it must be a number");
  target = context.value.get<double>();
  check_range(context, target);
}

// A number stands for its text ("precision": 16), a list of texts for a comma list of files.
void store(const Context& context, std::string& target) {
  const json& value = context.value;
  if (value.is_string()) {
    target = value.get<std::string>();
  } else if (value.is_number_integer()) {
    target = value.dump();
  } else if (value.is_array() && std::all_of(value.begin(), value.end(),
                                             [](const json& item) { return item.is_string(); })) {
    target = fmt::format("{}", fmt::join(value.get<std::vector<std::string>>(), ","));
  } else {
    context.refuse("it must be text");
  }
  const std::vector<std::string>& choices = context.option.choices;
  if (!choices.empty() && std::find(choices.begin(), choices.end(), target) == choices.end()) {
    const std::string& hint = context.option.hint;
    context.refuse(fmt::format("choose one of {}{}{}", fmt::join(choices, ", "),
                               hint.empty() ? "" : ": ", hint));
  }
}

void store(const Context& context, models::Activation& target) {
  std::string name;
  store(context, name);
  target = models::activation_named(name);
}

void store(const Context& context, std::vector<double>& target) {
  const json& value = context.value;
  const json list = value.is_array() ? value : json::array({value});
  target.clear();
  for (const json& item : list) {
    if (!item.is_number()) context.refuse("it must be a number or a list of numbers");
    target.push_back(item.get<double>());
    check_range(context, target.back());
  }
}

template <typename T>
void store(const Context& context, std::optional<T>& target) {
  store(context, target.emplace());
}

json boolean_of(std::string_view text) {
  for (const char* word : {"", "true", "yes", "on", "1"}) {
    if (text == word) return true;
  }
  for (const char* word : {"false", "no", "off", "0"}) {
    if (text == word) return false;
  }
  return text;
}

json number_of(std::string_view text) {
  const auto value = formats::parse_json(text);
  return value && value->is_number() ? *value : json(text);
}

json list_of(std::string_view text) {
  if (text.starts_with('[')) {
    const auto value = formats::parse_json(text);
    return value ? *value : json(text);
  }
  json list = json::array();
  while (true) {
    const size_t comma = text.find(',');
    list.push_back(number_of(text.substr(0, comma)));
    if (comma == std::string_view::npos) return list;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

void set_option(const Option& option, const json& value, const std::string& source) {
  if (value.is_null()) return;
  const Context context{option, value, source};
  std::visit([&](auto* target) { store(context, *target); }, option.target);
}

void clear_option(const Option& option) {
  std::visit(
      [](auto* target) {
        if constexpr (requires { target->reset(); }) target->reset();
      },
      option.target);
}

json value_of_text(const OptionTarget& target, std::string_view text) {
  return std::visit(
      [&](auto* pointer) -> json {
        using T = std::remove_pointer_t<decltype(pointer)>;
        if constexpr (std::is_same_v<T, bool>) return boolean_of(text);
        if constexpr (std::is_same_v<T, std::string>) return text;
        if constexpr (std::is_same_v<T, models::Activation>) return text;
        if constexpr (std::is_same_v<T, std::vector<double>>) return list_of(text);
        return number_of(text);
      },
      target);
}

nlohmann::ordered_json option_value(const Option& option) {
  return std::visit(
      [](auto* target) -> nlohmann::ordered_json {
        using T = std::remove_pointer_t<decltype(target)>;
        if constexpr (std::is_same_v<T, std::optional<int64_t>> ||
                      std::is_same_v<T, std::optional<double>>) {
          if (!target->has_value()) return nullptr;
          return **target;
        } else if constexpr (std::is_same_v<T, models::Activation>) {
          return models::activation_name(*target);
        } else {
          return *target;
        }
      },
      option.target);
}

int64_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<int64_t>> rows(a.size() + 1, std::vector<int64_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) rows[i][0] = static_cast<int64_t>(i);
  for (size_t j = 0; j <= b.size(); ++j) rows[0][j] = static_cast<int64_t>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      const int64_t replaced = rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, replaced});
      const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swap) rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.size()][b.size()];
}

}  // namespace cloze::cli

#include "cli/options/option_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/whole_number.h"
#include "formats/json.h"
#include "text/ascii.h"

namespace cloze::cli {
namespace {

using formats::Json;

struct Context {
  const Option& option;
  const Json& value;
  const std::string& source;

  [[noreturn]] void refuse(const std::string& wanted) const {
    throw_user_error("{} is {}; {}", place_of(option.name, source), formats::json_line(value),
                     wanted);
  }
};

void check_range(const Context& context, double number) {
  const auto& minimum = context.option.rules.minimum;
  const auto& maximum = context.option.rules.maximum;
  if (minimum && maximum && (number < *minimum || number > *maximum)) {
    context.refuse(fmt::format("it must be from {} to {}", *minimum, *maximum));
  }
  if (minimum && number < *minimum) context.refuse(fmt::format("it must be at least {}", *minimum));
  if (maximum && number > *maximum) context.refuse(fmt::format("it must be at most {}", *maximum));
}

// Options are computed with in f32. There a number that is too small is 0, which may mean "never"
// or "no guard", and one that is too large is infinite.
double number_in_f32(const Context& context, const Json& value) {
  constexpr double kLeast = std::numeric_limits<float>::min();
  constexpr double kMost = std::numeric_limits<float>::max();
  const double number = value.get<double>();
  const double size = std::abs(number);
  if (number != 0.0 && !(size >= kLeast && size <= kMost)) {
    context.refuse(
        fmt::format("in f32, a number other than 0 is from {:.2g} to {:.2g}", kLeast, kMost));
  }
  check_range(context, number);
  return number;
}

void store(const Context& context, bool& target) {
  if (!context.value.is_boolean()) context.refuse("it must be true or false");
  target = context.value.get<bool>();
}

// Whether a number is whole and in the range of T.
template <typename T>
bool fits(const Json& value) {
  if (value.is_number_unsigned()) return std::in_range<T>(value.get<uint64_t>());
  if (value.is_number_integer()) return std::in_range<T>(value.get<int64_t>());
  if (!value.is_number_float()) return false;
  const double number = value.get<double>();
  return std::trunc(number) == number && std::abs(number) < 0x1p53 &&
         std::in_range<T>(static_cast<int64_t>(number));
}

template <std::integral T>
void store(const Context& context, T& target) {
  const Json& value = context.value;
  if (!fits<int64_t>(value) && !fits<T>(value)) context.refuse("it must be a whole number");
  check_range(context, value.get<double>());
  if (!fits<T>(value)) {
    context.refuse(fmt::format("it must be from {} to {}", std::numeric_limits<T>::min(),
                               std::numeric_limits<T>::max()));
  }
  target = value.is_number_float() ? static_cast<T>(value.get<double>()) : value.get<T>();
}

void store(const Context& context, double& target) {
  if (!context.value.is_number()) context.refuse("it must be a number");
  target = number_in_f32(context, context.value);
}

void store(const Context& context, std::chrono::milliseconds& target) {
  int64_t count = 0;
  store(context, count);
  target = std::chrono::milliseconds(count);
}

bool is_list_of_texts(const Json& value) {
  return value.is_array() &&
         std::all_of(value.begin(), value.end(), [](const Json& item) { return item.is_string(); });
}

// A number stands for its text ("precision": 16), a list of texts for a comma-separated list of
// files, a list of lists for its JSON.
void store(const Context& context, std::string& target) {
  const Json& value = context.value;
  if (value.is_string()) {
    target = value.get<std::string>();
  } else if (value.is_number_integer()) {
    target = value.dump();
  } else if (is_list_of_texts(value)) {
    target = fmt::format("{}", fmt::join(value.get<std::vector<std::string>>(), ","));
  } else if (value.is_array() && std::ranges::all_of(value, &Json::is_array)) {
    target = value.dump();
  } else {
    context.refuse("it must be text");
  }
  const std::vector<std::string>& choices = context.option.rules.choices;
  const std::string& hint = context.option.rules.hint;
  const std::string_view text = target;
  const std::string_view choice =
      context.option.rules.are_choices_numbered ? text.substr(0, text.find(':')) : text;
  const auto has = [&](const auto& texts) {
    return std::ranges::find(texts, choice) != texts.end();
  };
  if (!choices.empty() && !has(choices) && !has(context.option.rules.choices_of_tests)) {
    context.refuse(fmt::format("choose one of {}{}{}", fmt::join(choices, ", "),
                               hint.empty() ? "" : ": ", hint));
  }
}

std::string text_of(const Context& context) {
  std::string text;
  store(context, text);
  return text;
}

void store(const Context& context, std::filesystem::path& target) { target = text_of(context); }

void store(const Context& context, const NamedValue& target) { target.set(text_of(context)); }

template <typename Text>
void store(const Context& context, std::vector<Text>& target) {
  target.clear();
  if (is_list_of_texts(context.value)) {
    for (const Json& item : context.value) target.emplace_back(item.get<std::string>());
    return;
  }
  const std::string list = text_of(context);
  for (std::string_view rest = list; !rest.empty();) {
    const size_t comma = std::min(rest.find(','), rest.size());
    if (comma > 0) target.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
}

void store(const Context& context, std::vector<double>& target) {
  const Json& value = context.value;
  const Json list = value.is_array() ? value : Json::array({value});
  target.clear();
  for (const Json& item : list) {
    if (!item.is_number()) context.refuse("it must be a number or a list of numbers");
    target.push_back(number_in_f32(context, item));
  }
}

// "250" → 250; nothing for other texts.
std::optional<int64_t> step_of(const std::string& text) {
  const std::optional<int64_t> step = number_in<int64_t>(text);
  return step && *step >= 0 ? step : std::nullopt;
}

void store(const Context& context, std::map<int64_t, double>& target) {
  constexpr const char* kWanted = "give numbers by step, such as 0:1e-4,1000:5e-5";
  if (!context.value.is_object()) context.refuse(kWanted);
  target.clear();
  for (const auto& [key, value] : context.value.items()) {
    const std::optional<int64_t> step = step_of(key);
    if (!step || !value.is_number()) context.refuse(kWanted);
    if (target.contains(*step)) context.refuse("give each step once");
    target[*step] = number_in_f32(context, value);
  }
}

template <typename T>
void store(const Context& context, std::optional<T>& target) {
  store(context, target.emplace());
}

// In letters of either case: other programs say True.
Json boolean_of(std::string_view text) {
  const std::string lower = text::lower_ascii(text);
  for (const char* word : {"", "true", "yes", "on", "1", "t", "y"}) {
    if (lower == word) return true;
  }
  for (const char* word : {"false", "no", "off", "0", "f", "n"}) {
    if (lower == word) return false;
  }
  return text;
}

Json number_of(std::string_view text) {
  const auto value = formats::parse_json(text);
  return value && value->is_number() ? *value : Json(text);
}

Json list_of(std::string_view text) {
  if (text.starts_with('[')) {
    const auto value = formats::parse_json(text);
    return value ? *value : Json(text);
  }
  Json list = Json::array();
  while (true) {
    const size_t comma = text.find(',');
    list.push_back(number_of(text.substr(0, comma)));
    if (comma == std::string_view::npos) return list;
    text.remove_prefix(comma + 1);
  }
}

// Of "0:1e-4,1000:5e-5".
Json map_of(std::string_view text) {
  Json map = Json::object();
  for (std::string_view rest = text;;) {
    const std::string_view pair = rest.substr(0, rest.find(','));
    const size_t colon = pair.find(':');
    if (colon == std::string_view::npos || map.contains(pair.substr(0, colon))) return text;
    map[std::string(pair.substr(0, colon))] = number_of(pair.substr(colon + 1));
    if (pair.size() == rest.size()) return map;
    rest.remove_prefix(pair.size() + 1);
  }
}

// What the text of a flag means, by the kind of its target.
Json meant(std::string_view text, const bool*) { return boolean_of(text); }
Json meant(std::string_view text, const std::optional<bool>*) { return boolean_of(text); }
template <typename Number>
Json meant(std::string_view text, const std::optional<Number>*) {
  return text.empty() ? Json() : number_of(text);
}
Json meant(std::string_view text, const std::vector<double>*) {
  return text.empty() ? Json() : list_of(text);
}
Json meant(std::string_view text, const std::map<int64_t, double>*) {
  return text.empty() ? Json() : map_of(text);
}
Json meant(std::string_view text, const std::string*) { return text; }
Json meant(std::string_view text, const std::filesystem::path*) { return text; }
Json meant(std::string_view text, const std::vector<std::string>*) { return text; }
Json meant(std::string_view text, const std::vector<std::filesystem::path>*) { return text; }
Json meant(std::string_view text, const NamedValue&) { return text; }
Json meant(std::string_view text, const void*) { return number_of(text); }

formats::Json value_of(const NamedValue& target) { return target.name(); }
formats::Json value_of(const std::filesystem::path* target) { return target->string(); }
formats::Json value_of(const std::chrono::milliseconds* target) { return target->count(); }
formats::Json value_of(const std::map<int64_t, double>* target) {
  formats::Json map = formats::Json::object();
  for (const auto& [step, number] : *target) map[std::to_string(step)] = number;
  return map;
}
formats::Json value_of(const std::vector<std::filesystem::path>* target) {
  return std::vector<std::string>(target->begin(), target->end());
}
template <typename T>
formats::Json value_of(const std::optional<T>* target) {
  if (!target->has_value()) return nullptr;
  return **target;
}
template <typename T>
formats::Json value_of(const T* target) {
  return *target;
}

}  // namespace

void set_option(const Option& option, const Json& value, const std::string& source) {
  if (value.is_null()) return;
  const Context context{option, value, source};
  std::visit(
      [&](auto& target) {
        if constexpr (requires { *target; }) {
          store(context, *target);
        } else {
          store(context, target);
        }
      },
      option.target);
}

std::string place_of(std::string_view name, const std::string& source) {
  return source == kCommandLineOrigin ? flag_name(name) : fmt::format("{}: {}", source, name);
}

void clear_option(const Option& option) {
  std::visit(
      [](auto& target) {
        if constexpr (requires { target->reset(); }) {
          target->reset();
        } else if constexpr (requires { target->clear(); }) {
          target->clear();
        }
      },
      option.target);
}

Json value_of_text(const OptionTarget& target, std::string_view text) {
  return std::visit([&](const auto& of_kind) { return meant(text, of_kind); }, target);
}

formats::Json option_value(const Option& option) {
  return std::visit([](const auto& target) { return value_of(target); }, option.target);
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

// A row of a command's options, and the names that it takes from other systems besides.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "configuration/foreign_system.h"
#include "formats/json.h"

namespace cloze::cli {

// A target whose values have names, such as an enumeration.
struct NamedValue {
  std::function<void(const std::string& name)> set;
  std::function<std::string()> name;
};

// named(input.format, data::text_format_from, data::text_format_name)
template <typename T, typename FromName, typename NameOf>
NamedValue named(T& value, FromName from_name, NameOf name_of) {
  return {[&value, from_name](const std::string& name) { value = from_name(name); },
          [&value, name_of] { return std::string(name_of(value)); }};
}

// Names the enumerators 0, 1, ... of an enumeration.
template <typename Enumeration>
NamedValue enumerated(Enumeration& value, const std::vector<std::string>& names) {
  const auto from_name = [names](const std::string& name) {
    return static_cast<Enumeration>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  return named(value, from_name,
               [names](Enumeration one) { return names[static_cast<size_t>(one)]; });
}

// Where an option's value goes: a member of the struct that uses it, which holds the default.
// Paths and texts in a vector are a comma list, unless the option is repeatable. A map from steps
// to numbers is {"0": 1e-4, "1000": 5e-5} in a file, 0:1e-4,1000:5e-5 in a flag.
using OptionTarget =
    std::variant<bool*, int32_t*, uint32_t*, int64_t*, uint64_t*, double*, std::string*,
                 std::filesystem::path*, std::chrono::milliseconds*, std::optional<bool>*,
                 std::optional<int64_t>*, std::optional<double>*, std::vector<double>*,
                 std::vector<std::string>*, std::vector<std::filesystem::path>*,
                 std::map<int64_t, double>*, NamedValue>;

struct OptionRules {
  std::vector<std::string> choices = {};           // of a text; empty: any
  std::vector<std::string> choices_of_tests = {};  // taken as well, and not offered
  bool are_choices_numbered = false;               // "cuda:1" is taken as "cuda" is
  std::string hint = {};               // shown after the choices when another is asked for
  std::optional<double> minimum = {};  // of a number, or each of a list; inclusive
  std::optional<double> maximum = {};
  bool is_required = false;
  std::vector<std::string> excludes = {};  // options that were added and may not be given as well
  bool is_repeatable = false;              // each time the flag is given adds a text
  bool is_positional = false;              // a word without a flag
  bool is_of_command = false;  // is about this command alone: a resumed run does not keep it
  bool is_common = false;      // --help shows it; where no row is common it shows all
  // Once all options are resolved: why this one has no effect in the run, as it follows "has no
  // effect": "without `epochs`"; empty where it has.
  std::function<std::string()> idle = {};
  // And why it may not be there, as that follows its name: "needs input_file, which is not given".
  std::function<std::string()> misplaced = {};
};

struct Option {
  std::string name;  // "micro_batch_size": the key; the flag is --micro-batch-size
  OptionTarget target;
  std::string help;
  OptionRules rules = {};
  std::string group = {};  // heading in the help; OptionTable::begin_group() sets it
};

// An option that another system has and this command cannot follow. Setting it is never silent: it
// is refused or leaves a note, unless the value asks for what is done here anyway.
struct ForeignOption {
  std::string name;
  std::string reason;
  bool is_refused = false;
  formats::Json agreeing = nullptr;  // the value that asks for what we do; null: none
};

// Another name of an option, as another program has it.
struct OptionAlias {
  std::string name;
  std::string option;
  const configuration::ForeignSystem* system;  // says what a value means
};

inline constexpr const char* kDefaultOrigin = "default";
inline constexpr const char* kCommandLineOrigin = "command line";

// "micro_batch_size" ↔ "--micro-batch-size"
std::string flag_name(std::string_view option_name);

// The row of that name; null when there is none.
template <typename Rows>
auto* find_row(Rows& rows, std::string_view name) {
  const auto found =
      std::ranges::find_if(rows, [&](const auto& row) { return row.option.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace cloze::cli

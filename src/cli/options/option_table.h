// The options of a command: one table gives the flags, the keys of the configuration file, the help
// and the checks. A value comes from, in descending order of precedence: the command line
// (--micro-batch-size 8), the file of --config (flat JSON, comments allowed: {"micro_batch_size":
// 8}), the default, which is what the target holds when its row is added. A value of the wrong kind
// is a UserError that names the option, the value and where it came from; an unknown key one that
// names the nearest known.
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
#include <utility>
#include <variant>
#include <vector>

#include "configuration/foreign_system.h"
#include "formats/json.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

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

// Of an enumeration whose enumerators 0, 1, ... have these names.
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
  std::vector<std::string> choices = {};  // of a text; empty: any
  std::string hint = {};                  // shown after the choices when another is asked for
  std::optional<double> minimum = {};     // of a number, or each of a list; inclusive
  std::optional<double> maximum = {};
  bool is_required = false;
  std::vector<std::string> excludes = {};  // options that were added and may not be given as well
  bool is_repeatable = false;              // each time the flag is given adds a text
  bool is_positional = false;              // a word without a flag
  bool is_of_command = false;  // is about this command alone: a resumed run does not keep it
};

struct Option {
  std::string name;  // "micro_batch_size": the key; the flag is --micro-batch-size
  OptionTarget target;
  std::string help;
  OptionRules rules = {};
  std::string group = {};  // heading in the help; begin_group() sets it
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

// What a run keeps of its options: a configuration file that gives them again, and beside it where
// each value came from.
inline constexpr const char* kStoredOptionsName = "training_config.json";
inline constexpr const char* kStoredOriginsName = "training_config_origins.json";

// The options that a run had, as its checkpoint keeps them.
struct StoredOptions {
  std::string path;       // of the file with the values
  formats::Json values;   // as OptionTable::values()
  formats::Json origins;  // as OptionTable::origins(); may lack some
  std::string origin_of(const std::string& name) const { return origins.value(name, ""); }
};

inline constexpr const char* kDefaultOrigin = "default";
inline constexpr const char* kCommandLineOrigin = "command line";

class OptionTable {
 public:
  // The heading in the help of the rows that follow.
  void begin_group(std::string heading) { group_ = std::move(heading); }
  void add(Option row);
  void add(std::string name, OptionTarget target, std::string help, OptionRules rules = {}) {
    add({std::move(name), std::move(target), std::move(help), std::move(rules)});
  }
  void add_foreign(ForeignOption option);
  // The option must be here; the name must not be an option itself.
  void add_alias(OptionAlias alias) { aliases_.push_back({.option = std::move(alias)}); }
  // A file is of this system's form when it has one of the keys that only that system has. What
  // such a file leaves out has the system's default, and a value may mean another one there. The
  // origin of both kinds of values is the system's name. Files of other systems are converted
  // (configuration::read_foreign_form).
  void set_file_form(const configuration::ForeignSystem& form) { form_ = &form; }

  // The command has --config.
  void allow_file() { allows_file_ = true; }
  // What the help shows after the command's name, instead of "[OPTIONS]".
  void set_usage(std::string words) { usage_ = std::move(words); }

  // Adds the flags to a command. resolve() then reads what was parsed.
  void add_flags(CLI::App& command);
  void resolve();
  // After resolve(), for a run that goes on: options that nothing gave take the run's value, or
  // stay at their default where that was its origin. Returns those that were given another value:
  // "precision \"bf16\" (was \"f32\")". Stored options that the table does not have leave a note.
  std::vector<std::string> take_run(const StoredOptions& run);

  // "default", the configuration file's path, the system of its form, or kCommandLineOrigin. The
  // system stays the origin when a run's own file (kStoredOptionsName) gives the value again.
  const std::string& origin(const std::string& name) const;
  bool comes_from_run(const std::string& name) const;
  bool is_given(const std::string& name) const { return origin(name) != kDefaultOrigin; }
  // Whether the user asked for it, on the command line or with a value other than the default. In a
  // file of all options, such as training_config.json, the defaults ask for nothing; nor does a
  // flag that clears what is not set.
  bool is_asked_for(const std::string& name) const;
  // Those of the options that the user asked for.
  std::vector<std::string> asked_for(std::vector<std::string> names) const;
  // The first of those.
  std::optional<std::string> first_asked_for(std::vector<std::string> names) const;
  bool has(const std::string& name) const;
  // A JSON schema of the files that --config takes (json-schema.org, draft 2020-12).
  formats::Json schema() const;
  // All values, as a configuration file that gives them again.
  formats::Json values() const;
  // {"micro_batch_size": "command line", ...}
  formats::Json origins() const;
  // Sentences about foreign options that were set, and about the form of the file.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Entry {
    Option option;
    CLI::Option* flag = nullptr;
    std::string origin = kDefaultOrigin;
    formats::Json default_value;
  };
  // A flag that is accepted but not shown in the help.
  template <typename Row>
  struct Hidden {
    Row option;
    CLI::Option* flag = nullptr;
  };

  void add_flag(CLI::App& command, Entry& entry);
  void read_file(const std::string& path);
  formats::Json converted_file(const std::string& path);
  formats::Json options_of_file(const std::string& path);
  formats::Json take_foreign_form(const formats::Json& config, const std::string& path);
  void take_of_form(const std::string& name, const formats::Json& value);
  void read_entry(Entry& entry, const formats::Json& value, const std::string& path);
  void take_stored_origins(const std::string& path);
  bool is_system(const std::string& origin) const {
    return form_ != nullptr && origin == form_->name;
  }
  void read_alias(const OptionAlias& alias, const formats::Json& value, const std::string& source);
  void read_flags();
  void read_alias_flags();
  void take_value(Entry& entry, const formats::Json& value, const StoredOptions& run) const;
  void refuse_extra_arguments() const;
  void meet_foreign(const ForeignOption& option, const formats::Json& value,
                    const std::string& source);
  void collect_notes();
  std::string form_note() const;
  Entry* find(std::string_view name);
  const Entry& at(const std::string& name) const;
  std::string suggestion(const std::string& key) const;

  bool allows_file_ = false;
  std::string usage_;
  std::string group_ = "Options";
  std::vector<Entry> entries_;
  std::vector<Hidden<ForeignOption>> foreign_;
  std::vector<Hidden<OptionAlias>> aliases_;
  const configuration::ForeignSystem* form_ = nullptr;
  std::string form_mark_;  // the key that told the form of the file; empty: it is ours
  std::string form_path_;
  std::string run_path_;  // where take_run() took values from
  // (source, reason) → names met
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> met_;
  std::vector<std::string> notes_;
  CLI::App* command_ = nullptr;
  CLI::Option* config_flag_ = nullptr;
};

// "micro_batch_size" ↔ "--micro-batch-size"
std::string flag_name(std::string_view option_name);

}  // namespace cloze::cli

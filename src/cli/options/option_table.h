// The options of a command: one table gives the flags, the keys of the configuration file, the help
// and the checks. A value comes from, in descending order of precedence: the command line
// (--micro-batch-size 8), the file of --config (file_source.h), the run that is resumed
// (stored_options.h), the default, which is what the target holds when its row is added. A value of
// the wrong kind is a UserError that names the option, the value and where it came from; an unknown
// key one that names the nearest known.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/options/option.h"
#include "configuration/foreign_system.h"
#include "formats/json.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace cloze::cli {

// A row with its value's origin: "default", the configuration file's path, the name of the system
// of its form, the path of a resumed run's options, or kCommandLineOrigin. The system stays the
// origin when a run's own file (kStoredOptionsName) gives the value again.
struct OptionEntry {
  Option option;
  CLI::Option* flag = nullptr;
  std::string origin = kDefaultOrigin;
  formats::Json default_value;
};

// Names of other systems that the command takes, too; the help does not show them.
struct ForeignNames {
  template <typename Row>
  struct Hidden {
    Row option;
    CLI::Option* flag = nullptr;
  };
  std::vector<Hidden<ForeignOption>> options;
  std::vector<Hidden<OptionAlias>> aliases;
  // The system whose keys are options here: of its form is a file with a key that it alone has. What
  // such a file leaves out has the system's default, and a value may mean another one there. Files
  // of other systems are converted (configuration::read_foreign_form).
  const configuration::ForeignSystem* form = nullptr;
};

class OptionTable {
 public:
  // The heading in the help of the rows that follow.
  void begin_group(std::string heading) { group_ = std::move(heading); }
  void add(Option row);
  void add(std::string name, OptionTarget target, std::string help, OptionRules rules = {}) {
    add({std::move(name), std::move(target), std::move(help), std::move(rules)});
  }
  // A row that --help shows; in a table that has one, --help-all alone shows the others.
  void add_common(std::string name, OptionTarget target, std::string help, OptionRules rules = {}) {
    rules.is_common = true;
    add(std::move(name), std::move(target), std::move(help), std::move(rules));
  }
  void add_foreign(ForeignOption option);
  // The option must be here; the name must not be an option itself.
  void add_alias(OptionAlias alias) { foreign_.aliases.push_back({.option = std::move(alias)}); }
  void set_file_form(const configuration::ForeignSystem& form) { foreign_.form = &form; }

  // The command has --config.
  void allow_file() { allows_file_ = true; }
  // What the help shows after the command's name, instead of "[OPTIONS]".
  void set_usage(std::string words) { usage_ = std::move(words); }

  // Adds the flags to a command. resolve() then reads the file and the flags.
  void add_flags(CLI::App& command);
  void resolve();

  // --- The rows, for the sources of values
  std::vector<OptionEntry>& entries() { return entries_; }
  OptionEntry* find(std::string_view name) { return find_row(entries_, name); }
  const ForeignNames& foreign() const { return foreign_; }
  // Whether the origin is the system of the file form.
  bool is_system(const std::string& origin) const {
    return foreign_.form != nullptr && origin == foreign_.form->name;
  }
  void add_note(std::string note) { notes_.push_back(std::move(note)); }
  void set_run(std::string path) { run_path_ = std::move(path); }

  // --- The result
  const std::string& origin(const std::string& name) const { return at(name).origin; }
  bool comes_from_run(const std::string& name) const;
  bool is_given(const std::string& name) const { return origin(name) != kDefaultOrigin; }
  // Whether the user asked for it, on the command line or with a value other than the default. In a
  // file of all options, such as training_config.json, the defaults ask for nothing; nor does a
  // flag that clears what is not set.
  bool is_asked_for(const std::string& name) const;
  bool has(const std::string& name) const { return find_row(entries_, name) != nullptr; }
  // The file is of the form that set_file_form() names.
  bool is_of_other_system() const { return is_of_other_system_; }
  // A JSON schema of the files that --config takes (json-schema.org, draft 2020-12).
  formats::Json schema() const;
  // All values, as a configuration file that gives them again.
  formats::Json values() const;
  // {"micro_batch_size": "command line", ...}
  formats::Json origins() const;
  // Sentences about foreign options that were set, about the form of the file and about a resumed
  // run.
  const std::vector<std::string>& notes() const { return notes_; }
  // "X has no effect WHY", for each option that someone asked for and that is idle; UserError for
  // one that is misplaced. Call it when all options are resolved.
  std::vector<std::string> check_use() const;
  // An option as the user knows it: by its flag where that was given, or where there is no --config;
  // else by its key. Nothing for other words.
  std::optional<std::string> spelled(std::string_view name) const;

 private:
  void add_flag(CLI::App& command, OptionEntry& entry);
  void set_help(CLI::App& command) const;
  const OptionEntry& at(const std::string& name) const;

  bool allows_file_ = false;
  bool has_file_ = false;  // --config was given
  bool is_of_other_system_ = false;
  std::string usage_;
  std::string group_ = "Options";
  std::vector<OptionEntry> entries_;
  ForeignNames foreign_;
  std::string run_path_;  // of the resumed run's options
  std::vector<std::string> notes_;
  CLI::App* command_ = nullptr;
  CLI::Option* config_flag_ = nullptr;
};

}  // namespace cloze::cli

// Configurations of other systems, as they are, to ours.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "configuration/foreign_file.h"
#include "configuration/foreign_system.h"
#include "formats/json.h"

namespace cloze::configuration {

// A configuration of another system on its way to ours: each key ends in an option of ours or in a
// sentence that says why not.
class Conversion {
 public:
  using Keys = std::vector<std::string>;

  Conversion(const ForeignSystem& system, const ForeignFile& file);

  // --- For statements and computations
  const ForeignSystem& system() const { return system_; }
  const std::string& program() const { return file_.program; }
  const std::string& task() const { return task_; }
  bool has(const std::string& key) const;                    // with a value
  const formats::Json& value(const std::string& key) const;  // null: none
  std::string text(const std::string& key) const;            // "" for what is no text
  // UserError when it is there and not a positive whole number.
  int64_t count(const std::string& key, int64_t otherwise) const;
  // UserError when it is there and not a number.
  double number(const std::string& key, double otherwise) const;
  // The first of these keys that has a value; "" for none.
  std::string first_of(const Keys& keys) const;

  // Sets an option from those of these keys that the file has; `how` follows the value in what is
  // said of them.
  void set(const std::string& option, const formats::Json& value, const Keys& keys,
           const std::string& how = "");
  // Sets what a file means when it does not say so; a key of the file may still set it. `why`
  // follows the value in what is said of it.
  void set_default(const std::string& option, const formats::Json& value,
                   const std::string& why = "");
  // Says what became of a key, which is then settled.
  void say(const std::string& key, const std::string& sentence);
  // Does what say() does, for what other options set here and the file does not.
  void point(const std::string& key, const std::string& sentence);
  // Says something of the whole file.
  void remark(const std::string& sentence) { remarks_.push_back(sentence); }
  // Does what say() does, for what the other system's program refuses too.
  void refuse(const std::string& key, const std::string& sentence);

  // --- The result, after finish()
  // Handles the remaining keys by the system's table.
  void finish();
  const formats::Json& options() const { return options_; }
  const std::map<std::string, std::string>& sentences() const { return sentences_; }  // by key
  const std::vector<std::string>& defaults() const { return defaults_; }  // options left out there
  // The reason why a default is what it is; empty where that needs no words.
  std::string reason_of(const std::string& option) const;
  // Keys whose role others took: no option has their value.
  const std::set<std::string>& replaced() const { return replaced_; }
  // Keys whose role other options have here.
  const std::vector<std::string>& pointed() const { return pointed_; }
  const std::vector<std::string>& remarks() const { return remarks_; }
  // Keys that prevent the conversion.
  const std::vector<std::string>& refused() const { return refused_; }
  const std::vector<std::string>& planned() const { return planned_; }
  const std::vector<std::string>& unknown() const { return unknown_; }
  // UserError that names them; planned ones may be left out.
  void require_free_way(bool without_planned = false) const;
  // The same, for the refused keys only.
  void require_no_contradiction() const;

 private:
  void take_common_defaults();
  void say_of_command_line();
  void follow_rule(const std::string& key, const formats::Json& value);
  void take(const std::string& key, const std::string& option, const formats::Json& value);

  const ForeignSystem& system_;
  const ForeignFile& file_;
  std::string task_;
  formats::Json options_ = formats::Json::object();
  std::map<std::string, std::string> sentences_;
  std::map<std::string, std::string> reasons_;  // of defaults
  std::set<std::string> replaced_;
  std::vector<std::string> defaults_, pointed_, remarks_, refused_, planned_, unknown_;
};

// `value` as a positive whole number; UserError that names the key otherwise.
int64_t checked_count(const std::string& key, const formats::Json& value);
double checked_number(const std::string& key, const formats::Json& value);
// UserError above 2^53, where JSON's numbers are no longer whole.
int64_t checked_product(std::initializer_list<int64_t> factors);

// The first key that only this system's files have; null when the file has none.
const std::string* find_mark(const ForeignSystem& system, const ForeignFile& file);

// A file's values with the text of the lists that say which process computes what, pipeline_stages
// and device_mapping: those options are texts, which files write as lists.
formats::Json with_layout_as_text(formats::Json values);

// Says whether a file that is recognised as of `system` is one of ours: a file of the TensorFlow 1
// programs, whose names of options are ours, has a mark or is a command line.
bool is_own_form(const ForeignSystem& system, const ForeignFile& file);

// The system that knows most of the file's keys. UserError when none knows any.
const ForeignSystem& recognised_system(const ForeignFile& file);
// Finds a system by ForeignSystem::id.
const ForeignSystem& system_named(const std::string& id);

// The whole conversion: every key of the file has its sentence.
Conversion converted(const ForeignSystem& system, const ForeignFile& file);

// Reads what --config takes by converting it: several files with commas between them, YAML, a file
// with a command line, and JSON with the mark of a system. Nothing for other JSON and for the form
// of the TensorFlow 1 programs, whose keys are options here.
std::optional<ForeignFile> read_foreign_form(std::string_view comma_list);
// One sentence: whose the files are, what they leave to that system, which keys it does not follow.
std::string summary(const ForeignSystem& system, const Conversion& conversion);

}  // namespace cloze::configuration

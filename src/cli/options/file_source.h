// Values from the file of --config: flat JSON with comments ({"micro_batch_size": 8}), config.json
// of a model (its shape), or a configuration of another system, which is converted.
#pragma once

#include <string>

#include "cli/options/foreign_notes.h"
#include "cli/options/option_table.h"
#include "formats/json.h"

namespace cloze::cli {

class FileSource {
 public:
  FileSource(OptionTable& table, ForeignNotes& foreign) : table_(table), foreign_(foreign) {}

  // Sets the options that it gives. `path` may be several, separated by commas.
  void read(const std::string& path);
  // Says whether the file has the form of the system whose keys are options here.
  bool is_of_other_system() const { return !mark_.empty(); }
  // A sentence on the values that such a file left to that system; call it after the flags, which
  // override them.
  std::string form_note() const;

 private:
  formats::Json converted(const std::string& path);
  formats::Json options_in(const std::string& path);
  formats::Json take_form(const formats::Json& config, const std::string& path);
  void take_of_form(const std::string& name, const formats::Json& value);
  void take_stored_origins(const std::string& path);

  OptionTable& table_;
  ForeignNotes& foreign_;
  std::string mark_;  // the key that told the form; empty: it is ours
  std::string path_;
};

// Sets the option that has this other name. UserError where the source gives that option, too.
void read_alias(OptionTable& table, const OptionAlias& alias, const formats::Json& value,
                const std::string& source);

}  // namespace cloze::cli

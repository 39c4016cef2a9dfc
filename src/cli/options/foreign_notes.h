// Notes of a command on options that other systems have and it cannot follow.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/options/option.h"

namespace cloze::cli {

class ForeignNotes {
 public:
  // Such an option has a value, in the file or on the command line (kCommandLineOrigin). UserError
  // when it is refused; nothing when the value asks for what is done here anyway.
  void meet(const ForeignOption& option, const formats::Json& value, const std::string& source);
  // One for each source and reason.
  std::vector<std::string> sentences() const;

 private:
  // (source, reason) → names met
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> met_;
};

}  // namespace cloze::cli

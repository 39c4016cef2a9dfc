#include "cli/options/foreign_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "cli/options/option_value.h"

namespace cloze::cli {

void ForeignNotes::meet(const ForeignOption& option, const formats::Json& value,
                        const std::string& source) {
  const bool agrees = !option.agreeing.is_null() && value == option.agreeing;
  const bool asks_nothing = option.agreeing.is_null() && configuration::is_off(value);
  if (agrees || asks_nothing) return;
  if (option.is_refused) {
    throw_user_error("{} is {}; {}", place_of(option.name, source), formats::json_line(value),
                     option.reason);
  }
  const bool is_flag = source == kCommandLineOrigin;
  met_[{source, option.reason}].push_back(is_flag ? flag_name(option.name) : option.name);
}

std::vector<std::string> ForeignNotes::sentences() const {
  std::vector<std::string> sentences;
  for (const auto& [key, names] : met_) {
    const auto& [source, reason] = key;
    const std::string place = source == kCommandLineOrigin ? "" : source + ": ";
    sentences.push_back(fmt::format("{}{} {} no effect: {}", place, fmt::join(names, ", "),
                                    names.size() == 1 ? "has" : "have", reason));
  }
  return sentences;
}

}  // namespace cloze::cli

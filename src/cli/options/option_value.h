// Conversion of one option's value: from JSON or from the text of a flag, with its checks; and
// back.
#pragma once

#include <string>
#include <string_view>

#include "cli/options/option_table.h"
#include "formats/json.h"

namespace cloze::cli {

// Stores the value. null leaves the default. `source` is a file's path or kCommandLineOrigin: the
// message of the UserError begins with it.
void set_option(const Option& option, const formats::Json& value, const std::string& source);

// How the message about a value begins: "FILE: seed", or "--seed" on the command line.
std::string place_of(std::string_view name, const std::string& source);

// Resets a target that can be without a value to none.
void clear_option(const Option& option);

// What the text of a flag means for a target of this kind: "8" → 8, "yes" → true, "0.5,1" → [0.5,
// 1]; "" → null, no value, for a number that can be without one. Text that means nothing stays text,
// which set_option then refuses.
formats::Json value_of_text(const OptionTarget& target, std::string_view text);

formats::Json option_value(const Option& option);

// Edits (insert, delete, replace, swap of neighbours) that turn one word into the other.
int64_t edit_distance(std::string_view a, std::string_view b);

}  // namespace cloze::cli

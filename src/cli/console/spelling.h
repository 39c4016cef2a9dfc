// The names of options in messages: as the user gave them. Code writes the key, and what say.h
// prints passes through here: num_train_steps becomes --num-train-steps where it came from the
// command line. A key is any word with an underscore that is an option of the command; one that is
// a plain word stands between backticks, to tell it from the sentence: `epochs`.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace cloze::cli {

// OptionTable::spelled() of the command that runs.
using Spelling = std::function<std::optional<std::string>(std::string_view name)>;

// From here on; without a spelling all texts stay as they are. Call it before there are threads.
void set_spelling(Spelling spelling);

std::string spelled(const std::string& text);

}  // namespace cloze::cli

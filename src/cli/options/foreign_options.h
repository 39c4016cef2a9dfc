// What a command that trains takes from other programs: the keys of Graphcore's TensorFlow 1
// programs that are known here and not followed, their form of configuration file, and the names
// that Hugging Face's training arguments have for options.
#pragma once

#include <string>

#include "cli/options/option_table.h"

namespace cloze::cli {

// Call it after all options of the command were added. The task is as the system's table names it:
// "pretraining", "SQuAD", "GLUE".
void add_foreign_options(OptionTable& table, const std::string& task);

}  // namespace cloze::cli

// The command line that starts a program of another system, as a file of such a line.
#pragma once

#include <string>
#include <string_view>

#include "configuration/foreign_file.h"
#include "formats/json.h"

namespace cloze::configuration {

// A word as JSON: a number, true, False, a list; or the word itself.
formats::Json word_value(const std::string& word);

// Says whether the text starts a program or has options.
bool is_command_line(const std::string& text);

// The words that follow the program's name: `mpirun ... python3 demo_bert.py pretraining -b 64 8
// --dist` is batch_size [64, 8] and dist true, and the launcher's command is pretraining. A word
// that no option comes before is the value of config. Quotes, continued lines, comments and
// variables that the text itself sets are as in a shell, and <name> is a word, as READMEs have it;
// what follows a pipe, a redirection or the end of the command is left out. The replicas that
// poprun is told to start are those of the run; so are the processes of mpirun and of torch's
// launcher, whose programs call them world_size. UserError for two programs that train, and for a
// program that does something else (program_elsewhere.h).
ForeignFile command_line_values(std::string_view text);

}  // namespace cloze::configuration

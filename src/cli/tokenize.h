// cloze tokenize --vocab-file V [--cased] [--profile hf|google] [--offsets] < text
//
// Prints one line of token ids for each line of standard input; with --offsets each id as
// id:begin-end, in bytes of its line, end excluded. Lines are cut at "\n".
#pragma once

#include "cli/subcommand.h"

namespace cloze::cli {

void add_tokenize(Subcommand parent);

}  // namespace cloze::cli

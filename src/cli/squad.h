// `cloze squad`: fine-tunes on SQuAD 1.1 or 2.0, answers its questions, scores the answers.
#pragma once

#include "cli/subcommand.h"

namespace cloze::cli {

void add_squad(Subcommand parent);

}  // namespace cloze::cli

// `cloze answer`: answers questions on texts.
#pragma once

#include "cli/subcommand.h"

namespace cloze::cli {

void add_answer(Subcommand parent);

}  // namespace cloze::cli

// `cloze score`: official scores of prediction files (tasks/squad/squad_score.h,
// tasks/glue/glue_score.h).
#pragma once

#include "cli/subcommand.h"

namespace cloze::cli {

void add_score(Subcommand parent);

}  // namespace cloze::cli

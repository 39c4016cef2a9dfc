// `cloze inspect`: the tensors of a model in any form (formats/model_tensors.h).
#pragma once

#include "cli/subcommand.h"

namespace cloze::cli {

void add_inspect(Subcommand parent);

}  // namespace cloze::cli

// cloze serve: a model behind HTTP, with a page to ask it.
#pragma once

#include "cli/subcommand.h"

namespace cloze::cli {

void add_serve(Subcommand parent);

}  // namespace cloze::cli

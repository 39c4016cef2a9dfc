// `cloze classify`: classes of texts, or of pairs of texts.
#pragma once

#include "cli/subcommand.h"

namespace cloze::cli {

void add_classify(Subcommand parent);

}  // namespace cloze::cli

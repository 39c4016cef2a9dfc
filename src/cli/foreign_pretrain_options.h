// Options of Graphcore's BERT pre-training program that `cloze pretrain` knows and does not follow.
// docs/seed-options.md says the same, for people.
#pragma once

#include <vector>

#include "cli/option_table.h"

namespace cloze::cli {

std::vector<ForeignOption> foreign_pretrain_options();

}  // namespace cloze::cli

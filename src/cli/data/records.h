// `cloze data records`: plain text becomes pre-training records.
#pragma once

#include "cli/subcommand.h"

namespace cloze::cli {

void add_data_records(Subcommand parent);

}  // namespace cloze::cli

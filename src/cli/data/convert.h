// `cloze data convert`: records of any form to TFRecord (data/records/convert_records.h).
#pragma once

#include "cli/subcommand.h"

namespace cloze::cli {

void add_data_convert(Subcommand parent);

}  // namespace cloze::cli

// The data of `cloze pretrain` (records, a token store, text that becomes one, or generated
// samples), and the run over them.
#pragma once

#include <string>
#include <vector>

#include "cli/options/option_table.h"
#include "cli/pretrain_options.h"

namespace cloze::cli {

// Opens the data; tokenises input_file first when it is given. UserError when vocabulary,
// vocab_size and data do not fit each other.
train::TrainingOptions pretraining_options(const PretrainOptions& options);

// UserError for options of drawing that are set while the data are records; and sentences about
// options of records that are set while samples are drawn.
std::vector<std::string> check_data_options(const PretrainOptions& options,
                                            const OptionTable& table);

}  // namespace cloze::cli

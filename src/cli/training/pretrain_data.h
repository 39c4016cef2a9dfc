// The data of `cloze pretrain` (records, a token store, text that becomes one, or generated
// samples), and the run over them.
#pragma once

#include <string>
#include <vector>

#include "cli/options/option_table.h"
#include "cli/training/pretrain_options.h"

namespace cloze::cli {

// Opens the data; tokenises input_file first when it is given. UserError when vocabulary,
// vocab_size and data do not fit each other, or when do_lower_case does not fit the tokenizer of
// the start model.
train::TrainingOptions pretraining_options(const PretrainOptions& options,
                                           const OptionTable& table);

// UserError for options of text, of drawing or of loading that are set where the data have no use
// for them, for a do_lower_case that is not the token store's, and for a model with one token type
// where pairs are made; and sentences about options of records that are set without records.
std::vector<std::string> check_data_options(const PretrainOptions& options,
                                            const OptionTable& table);

}  // namespace cloze::cli

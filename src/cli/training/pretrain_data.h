// The data of `cloze pretrain` (records, a token store, text that becomes one, or generated
// samples), and the run over them.
#pragma once

#include "cli/run/pretrain_run.h"

namespace cloze::cli {

// The run with its data and its length; tokenises input_file first when it is given. UserError when
// vocabulary, vocab_size and data do not fit each other, or when do_lower_case does not fit the
// tokenizer of the start model.
train::TrainingOptions with_data(const PretrainRun& run);

}  // namespace cloze::cli

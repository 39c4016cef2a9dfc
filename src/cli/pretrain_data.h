// The data of `cloze pretrain`: records, a token store, text that becomes one, or generated
// samples.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/options/option_table.h"
#include "cli/pretrain_options.h"
#include "data/dataset.h"
#include "text/tokenizer_options.h"

namespace cloze::cli {

struct PretrainData {
  std::shared_ptr<const data::Dataset> dataset;
  std::vector<std::string> tokens;  // the vocabulary; empty when nothing names it
  text::TokenizerOptions tokenizer;
};

// Tokenises input_file first when it is given. UserError when vocabulary, vocab_size and data do
// not fit each other.
PretrainData open_pretrain_data(const PretrainOptions& options);

// The samples of on_the_spot_validation_files, read as those of train_file.
std::shared_ptr<const data::Dataset> open_validation_data(const PretrainOptions& options);

// Whether samples are drawn from text, rather than read as they were written.
bool draws_samples(const PretrainOptions& options);

// UserError for options of drawing that are set while the data are records; and sentences about
// options of records that are set while samples are drawn.
std::vector<std::string> check_data_options(const PretrainOptions& options,
                                            const OptionTable& table);

}  // namespace cloze::cli

// The options of commands that read pre-training data: which files, and what to expect of them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options/option_table.h"
#include "data/dataset.h"
#include "data/records/record_file.h"
#include "data/statistics.h"
#include "data/token_store/token_store_dataset.h"

namespace cloze::cli {

// train_files: for platform::expand_paths(), or a token store.
void add_record_options(OptionTable& table, std::string& train_files, data::RecordShape& shape);

// Samples of a token store as cloze pretrain draws them when nothing else is said. UserError when
// their sizes are not given.
std::unique_ptr<data::TokenStoreDataset> open_drawn_samples(const std::string& token_store,
                                                            const data::RecordShape& shape);

// Counts all samples, and shows on standard error how far that is.
data::DatasetStatistics measure_with_display(const data::Dataset& dataset);

// Says on standard error that pairs of sentences teach little, when many are none: `share` of
// `what`, and what to do about it.
void print_pair_notice(double share, std::string_view what, std::string_view otherwise);

// Prints the first defects to standard error, and how many more there are.
void print_defects(const std::vector<data::RecordDefect>& defects);

}  // namespace cloze::cli

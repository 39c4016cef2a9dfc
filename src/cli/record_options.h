// The options of commands that read pre-training data: which files, and what to expect of them.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/subcommand.h"
#include "data/dataset.h"
#include "data/records/record_file.h"
#include "data/statistics.h"
#include "data/token_store/token_store_dataset.h"

namespace cloze::cli {

struct RecordFlags {
  std::string train_files;
  data::RecordShape shape;
};

void add_record_options(Subcommand& command, RecordFlags& flags);

// Samples of a token store as cloze pretrain draws them when nothing else is said. UserError when
// their sizes are not given.
std::unique_ptr<data::TokenStoreDataset> open_drawn_samples(const RecordFlags& flags);

// Counts all samples, and shows on standard error how far that is.
data::DatasetStatistics measure_with_display(const data::Dataset& dataset);

// Says on standard error that pairs of sentences teach little, when many are none: `share` of
// `what`, and what to do about it.
void print_pair_notice(double share, std::string_view what, std::string_view otherwise);

// Prints the first defects to standard error, and how many more there are.
void print_defects(const std::vector<data::RecordDefect>& defects);

// "a,b,c" as paths that need not exist.
std::vector<std::filesystem::path> split_path_list(std::string_view comma_list);

}  // namespace cloze::cli

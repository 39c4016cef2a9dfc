#include <fmt/core.h>

#include <chrono>
#include <string>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/record_options.h"
#include "data/offline_packing/histogram_packing.h"
#include "data/records/record_dataset.h"
#include "data/statistics.h"
#include "platform/available_threads.h"
#include "platform/file.h"

namespace cloze::cli {
namespace {

struct Options {
  std::string lengths_file;
  std::string train_files;
  std::string algorithm = "lpfhp";
  data::PackingLimits limits;
};

data::LengthHistogram lengths_of(const Options& options) {
  if (options.lengths_file.empty() == options.train_files.empty()) {
    throw_user_error("give either --lengths or --train-file");
  }
  if (!options.lengths_file.empty()) return data::read_length_histogram(options.lengths_file);
  const int threads = platform::available_threads();
  const data::RecordDataset dataset(platform::expand_paths(options.train_files),
                                    {.threads = threads});
  return measure_with_display(dataset).lengths;
}

void run(const Options& options) {
  const auto algorithm = data::packing_algorithm_named(options.algorithm);
  const data::LengthHistogram histogram = lengths_of(options);
  const auto start = std::chrono::steady_clock::now();
  const data::HistogramPacking packing = data::pack_histogram(histogram, algorithm, options.limits);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  fmt::print("{}{}, {:.3f} s\n", data::describe_packing(histogram, packing), options.algorithm,
             elapsed.count());
}

void add_options(OptionTable& table, Options& o) {
  table.add("lengths", &o.lengths_file,
            "File of lines \"length count\", as `cloze data stats --lengths` writes it");
  table.add("train_file", &o.train_files, "Record files: comma list, globs");
  table.add("algorithm", &o.algorithm,
            "Shortest pack first, longest pack first (best fit), or non-negative least squares",
            {.choices = {"spfhp", "lpfhp", "nnlshp"}});
  table.add("pack_tokens", &o.limits.pack_tokens, "Tokens of a pack; 0: the longest length");
  table.add("sequences_per_pack", &o.limits.sequences_per_pack,
            "Sequences a pack holds at most; 0: no limit");
}

}  // namespace

void add_data_packing(Subcommand data) {
  data.add_command("packing", "Say how well sequences pack, from a histogram of their lengths",
                   add_options, run);
}

}  // namespace cloze::cli

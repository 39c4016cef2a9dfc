#include <fmt/core.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/seconds.h"
#include "cli/data/data_options.h"
#include "cli/options/commands.h"
#include "data/inspection/statistics.h"
#include "data/offline_packing/histogram_packing.h"
#include "data/offline_packing/write_packs.h"
#include "data/records/record_dataset.h"
#include "platform/available_threads.h"
#include "platform/files/input_paths.h"

namespace cloze::cli {
namespace {

struct Options {
  std::string lengths_file;
  std::string train_files;
  std::string algorithm = "lpfhp";
  data::PackingLimits limits;
  data::PackFiles packs;  // no folder: none are written
};

// The records that are packed; nothing when their lengths are in a file.
std::unique_ptr<data::RecordDataset> open_records(const Options& options) {
  if (options.lengths_file.empty() == options.train_files.empty()) {
    throw_user_error("give either --lengths or --train-file");
  }
  if (!options.lengths_file.empty()) return nullptr;
  return std::make_unique<data::RecordDataset>(
      platform::expand_paths(options.train_files),
      data::RecordDatasetOptions{.shape = options.packs.shape,
                                 .threads = platform::available_threads()});
}

void write(const data::RecordDataset* records, const data::HistogramPacking& packing,
           data::PackFiles& packs) {
  if (records == nullptr || packs.shape.max_predictions < 1) {
    throw_user_error("to write packs to {}, give --{}", packs.folder.string(),
                     records == nullptr ? "train-file, not --lengths" : "max-predictions-per-seq");
  }
  packs.shape.sequence_length = packing.pack_tokens;
  const data::WrittenPacks written = data::write_packs(*records, packing, packs);
  fmt::print("files {}\npacks {}\nsequences {}\n", written.files, written.packs, written.sequences);
}

void check_output_folder(const Options& options) {
  const std::filesystem::path any_file = options.packs.folder / "packs";
  platform::require_other_files(
      {.inputs = platform::expand_paths_with_folders(options.train_files), .outputs = {any_file}});
  data::check_has_no_packs(options.packs.folder);
}

void run(Options& options) {
  const auto algorithm = data::packing_algorithm_named(options.algorithm);
  if (!options.packs.folder.empty()) check_output_folder(options);
  const auto records = open_records(options);
  const data::LengthHistogram histogram = records
                                              ? measure_with_display(*records).lengths
                                              : data::read_length_histogram(options.lengths_file);
  const auto start = std::chrono::steady_clock::now();
  const data::HistogramPacking packing = data::pack_histogram(histogram, algorithm, options.limits);
  const double elapsed = seconds_since(start);
  fmt::print("{}{}, {:.3f} s\n", data::describe_packing(histogram, packing), options.algorithm,
             elapsed);
  if (!options.packs.folder.empty()) write(records.get(), packing, options.packs);
}

void add_options(OptionTable& table, Options& o) {
  table.add("lengths", &o.lengths_file,
            "File of lines \"length count\", as `cloze data stats --lengths` writes it");
  table.add(
      "train_file", &o.train_files,
      "Record files: paths or globs, separated by commas (a path that exists may contain them)");
  table.add("seq_length", &o.packs.shape.sequence_length,
            "Tokens per record; records with another number are refused; binary records need it. "
            "0: any",
            {.minimum = 0, .excludes = {"lengths"}});
  table.add("algorithm", &o.algorithm,
            "Shortest pack first, longest pack first (best fit), or non-negative least squares",
            {.choices = {"spfhp", "lpfhp", "nnlshp"}});
  table.add("pack_tokens", &o.limits.pack_tokens, "Tokens per pack; 0: the longest length",
            {.minimum = 0});
  table.add("sequences_per_pack", &o.limits.sequences_per_pack,
            "Maximum number of sequences per pack; 0: no limit", {.minimum = 0});
  table.add("output_dir", &o.packs.folder,
            "Write the packs of train_file: Graphcore's files strategy_LENGTHS_part_K");
  table.add("max_predictions_per_seq", &o.packs.shape.max_predictions,
            "Masked tokens per record; a pack has room for 2 more");
  table.add("random_seed", &o.packs.seed, "Seed of the choice among sequences of the same length",
            {.idle = [&o] { return o.packs.folder.empty() ? "without output_dir" : ""; }});
}

}  // namespace

void add_data_packing(Subcommand data) {
  data.add_command("packing",
                   {"Report how well sequences pack, and write the packs (--output-dir)",
                    "cloze data packing --lengths lengths.txt"},
                   add_options, run);
}

}  // namespace cloze::cli

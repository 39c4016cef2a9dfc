#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/console/work_display.h"
#include "cli/data/data_options.h"
#include "cli/options/commands.h"
#include "data/records/convert_records.h"
#include "data/sequence.h"
#include "platform/available_threads.h"
#include "platform/files/input_paths.h"

namespace cloze::cli {
namespace {

struct Options {
  std::string train_files;
  data::ConvertOptions convert;
};

void complete(data::ConvertOptions& convert) {
  const data::RecordShape& shape = convert.shape;
  if (shape.sequence_length < 1 || shape.max_predictions < 1) {
    throw_user_error(
        "the sizes of the records are needed; give --seq-length and "
        "--max-predictions-per-seq");
  }
  convert.layout.sequence_length = shape.sequence_length;
  convert.layout.max_predictions = shape.max_predictions;
  // Unused slots have a position that no token has.
  convert.layout.pad_position_value =
      std::max(convert.layout.pad_position_value, shape.sequence_length);
  convert.threads = platform::available_threads();
}

data::ConvertCounts convert_store(const std::string& token_store,
                                  const data::ConvertOptions& convert,
                                  data::ConvertProgress& progress) {
  data::RecordShape shape = convert.shape;
  if (convert.layout.remask) {
    shape.sequence_length = data::longest_with_slots(
        {.sequence_length = shape.sequence_length, .max_predictions = shape.max_predictions});
    if (shape.sequence_length < data::kShortestPair) {
      throw_user_error(
          "--max-predictions-per-seq {} leaves too little room in re-masked sequences of {}; lower "
          "it",
          shape.max_predictions, convert.shape.sequence_length);
    }
  }
  const auto drawn = open_drawn_samples(token_store, shape);
  const WorkDisplay display([&](double seconds) {
    const int64_t done = progress.bytes, total = progress.total_bytes;
    return fmt::format("drawn {} of {} samples, {} left", done, total,
                       time_left(done, total, seconds));
  });
  return data::convert_dataset(*drawn, convert, progress);
}

data::ConvertCounts convert_files(const data::ConvertOptions& convert,
                                  data::ConvertProgress& progress) {
  const WorkDisplay display([&](double seconds) {
    return "converted " + describe_bytes(progress.bytes, progress.total_bytes, seconds);
  });
  return data::convert_records(convert, progress);
}

void run(Options& options) {
  data::ConvertOptions& convert = options.convert;
  complete(convert);
  data::ConvertProgress progress;
  const bool is_store = data::is_token_store(options.train_files);
  if (!is_store) convert.files = platform::expand_paths(options.train_files);
  platform::require_other_files(
      {.inputs = is_store ? std::vector<std::filesystem::path>{options.train_files}
                          : platform::expand_paths_with_folders(options.train_files),
       .outputs = convert.output_files});
  const data::ConvertCounts counts = is_store
                                         ? convert_store(options.train_files, convert, progress)
                                         : convert_files(convert, progress);
  print_defects(counts.skipped);
  fmt::print("files {}\nrecords read {}\nrecords written {}\nbad records left out {}\n",
             convert.files.size(), counts.records, counts.samples, counts.skipped.size());
  if (counts.without_pair > 0) {
    fmt::print("samples of one part left out {}\n", counts.without_pair);
  }
  if (counts.shortened > 0) {
    fmt::print("records shortened to make room for the slots {}, by {} tokens in all\n",
               counts.shortened, counts.tokens_taken);
  }
}

void add_options(OptionTable& table, Options& o) {
  add_record_options(table, o.train_files, o.convert.shape);
  table.add("output_file", &o.convert.output_files,
            "TFRecord files to write, or binary ones, separated by commas", {.is_required = true});
  table.add("remask", &o.convert.layout.remask,
            "Write the static-mask layout: masked tokens first");
  table.add("binary", &o.convert.layout.binary,
            "Write MLPerf's unpacked binary records, as record_to_binary does",
            {.excludes = {"remask"}});
  table.add("skip_bad", &o.convert.skip_bad, "Leave out and count bad records");
}

}  // namespace

void add_data_convert(Subcommand data) {
  data.add_command(
      "convert",
      {"Convert records of any form, or a token store, to TFRecord or MLPerf's binary files",
       "cloze data convert --train-file 'records/*' --seq-length 128 --max-predictions-per-seq 20 "
       "--output-file converted.tfrecord"},
      add_options, run);
}

}  // namespace cloze::cli

#include "cli/data/convert.h"

#include <fmt/core.h>

#include <memory>
#include <string>

#include "base/error.h"
#include "cli/record_options.h"
#include "cli/work_display.h"
#include "data/records/convert_records.h"
#include "platform/available_threads.h"
#include "platform/file.h"

namespace cloze::cli {
namespace {

struct Options {
  RecordFlags input;
  std::string output_files;
  bool remask = false;
  bool skip_bad = false;
};

data::ConvertOptions convert_options(const Options& options) {
  const data::RecordShape& shape = options.input.shape;
  if (shape.sequence_length < 1 || shape.max_predictions < 1) {
    throw_user_error(
        "the sizes of the records are needed; give --seq-length and "
        "--max-predictions-per-seq");
  }
  return {.shape = shape,
          .output_files = split_path_list(options.output_files),
          .layout = {.sequence_length = shape.sequence_length,
                     .max_predictions = shape.max_predictions,
                     .remask = options.remask},
          .threads = platform::available_threads(),
          .skip_bad = options.skip_bad};
}

data::ConvertCounts convert_store(const data::ConvertOptions& convert, RecordFlags input,
                                  data::ConvertProgress& progress) {
  if (convert.layout.remask) {
    input.shape.sequence_length =
        data::longest_with_slots({.sequence_length = input.shape.sequence_length,
                                  .max_predictions = input.shape.max_predictions});
  }
  const auto drawn = open_drawn_samples(input);
  const WorkDisplay display([&](double seconds) {
    const auto total = static_cast<double>(progress.total_bytes);
    const auto done = static_cast<double>(progress.bytes);
    return fmt::format("drawn {:.0f} of {:.0f} samples, {:.0f} s left", done, total,
                       seconds_left(done, total, seconds));
  });
  return data::convert_dataset(*drawn, convert, progress);
}

data::ConvertCounts convert_files(data::ConvertOptions& convert, const RecordFlags& input,
                                  data::ConvertProgress& progress) {
  convert.files = platform::expand_paths(input.train_files);
  const WorkDisplay display([&](double seconds) {
    return "converted " + describe_bytes(static_cast<double>(progress.bytes),
                                         static_cast<double>(progress.total_bytes), seconds);
  });
  return data::convert_records(convert, progress);
}

void run(const Options& options) {
  data::ConvertOptions convert = convert_options(options);
  data::ConvertProgress progress;
  const data::ConvertCounts counts = data::is_token_store(options.input.train_files)
                                         ? convert_store(convert, options.input, progress)
                                         : convert_files(convert, options.input, progress);
  print_defects(counts.skipped);
  fmt::print("files {}\nrecords read {}\nrecords written {}\nbad records left out {}\n",
             convert.files.size(), counts.records, counts.samples, counts.skipped.size());
  if (counts.shortened > 0) {
    fmt::print("records shortened to make room for the slots {}, by {} tokens in all\n",
               counts.shortened, counts.tokens_taken);
  }
}

}  // namespace

void add_data_convert(Subcommand parent) {
  Subcommand command = parent.add_subcommand(
      "convert",
      "Make TFRecord files of packed, re-masked, plain or HDF5 records, or of a token store");
  const auto options = std::make_shared<Options>();
  add_record_options(command, options->input);
  command.add_option("--output-file", options->output_files, "TFRecord files to write: comma list")
      .required();
  command.add_flag("--remask", options->remask,
                   "Write the static-mask layout: masked tokens first");
  command.add_flag("--skip-bad", options->skip_bad, "Leave out and count bad records");
  command.set_action([options] { run(*options); });
}

}  // namespace cloze::cli

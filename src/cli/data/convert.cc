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

void run(const Options& options) {
  const data::RecordShape& shape = options.input.shape;
  if (shape.sequence_length < 1 || shape.max_predictions < 1) {
    throw_user_error(
        "the sizes of the records are needed; give --seq-length and "
        "--max-predictions-per-seq");
  }
  const data::ConvertOptions convert{.files = platform::expand_paths(options.input.train_files),
                                     .shape = shape,
                                     .output_files = split_path_list(options.output_files),
                                     .layout = {.sequence_length = shape.sequence_length,
                                                .max_predictions = shape.max_predictions,
                                                .remask = options.remask},
                                     .threads = platform::available_threads(),
                                     .skip_bad = options.skip_bad};
  data::ConvertProgress progress;
  data::ConvertCounts counts;
  {
    const WorkDisplay display([&](double seconds) {
      return "converted " + describe_bytes(static_cast<double>(progress.bytes),
                                           static_cast<double>(progress.total_bytes), seconds);
    });
    counts = data::convert_records(convert, progress);
  }
  print_defects(counts.skipped);
  fmt::print("files {}\nrecords read {}\nrecords written {}\nbad records left out {}\n",
             convert.files.size(), counts.records, counts.samples, counts.skipped.size());
}

}  // namespace

void add_data_convert(Subcommand parent) {
  Subcommand command = parent.add_subcommand(
      "convert", "Make TFRecord files of packed, re-masked, plain or HDF5 records");
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

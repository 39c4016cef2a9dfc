#include "cli/data_verify.h"

#include <fmt/core.h>

#include <memory>
#include <string>

#include "base/error.h"
#include "data/verification.h"
#include "platform/file.h"
#include "platform/parallel_for.h"

namespace cloze::cli {
namespace {

constexpr size_t kShown = 20;

struct Options {
  std::string train_files;
  bool skip_bad = false;
  data::RecordShape shape;
};

void run(const Options& options) {
  const auto files = platform::expand_paths(options.train_files);
  const data::Verification result =
      data::verify_records(files, options.shape, platform::available_threads());
  for (size_t i = 0; i < std::min(result.bad.size(), kShown); ++i) {
    const data::BadRecord& bad = result.bad[i];
    fmt::print("{}, record at byte {}: {}\n", bad.file.string(), bad.offset, bad.message);
  }
  if (result.bad.size() > kShown) fmt::print("... {} more\n", result.bad.size() - kShown);
  fmt::print("files {}\nbytes {}\ngood records {}\nbad records {}\n", result.files, result.bytes,
             result.records, result.bad.size());
  if (!result.bad.empty() && !options.skip_bad) {
    throw_data_error("{} bad records; make them again, or add --skip-bad to accept them here",
                     result.bad.size());
  }
}

}  // namespace

void add_data_verify(Subcommand parent) {
  Subcommand command = parent.add_subcommand("verify", "Read and check every pre-training record");
  const auto options = std::make_shared<Options>();
  command.add_option("--train-file", options->train_files, "TFRecord files: comma list, globs")
      .required();
  command.add_option("--seq-length", options->shape.sequence_length,
                     "Length every record must have");
  command.add_option("--max-predictions-per-seq", options->shape.max_predictions,
                     "Number of slots every record must have");
  command.add_option("--vocab-size", options->shape.vocabulary_size, "Bound of all ids");
  command.add_flag("--skip-bad", options->skip_bad, "Count bad records, and exit with success");
  command.set_action([options] { run(*options); });
}

}  // namespace cloze::cli

#include <fmt/core.h>

#include <atomic>

#include "base/error.h"
#include "cli/console/work_display.h"
#include "cli/data/data_options.h"
#include "cli/options/commands.h"
#include "data/inspection/verification.h"
#include "data/token_store/token_store.h"
#include "platform/available_threads.h"
#include "platform/files/file.h"
#include "platform/files/input_paths.h"

namespace cloze::cli {
namespace {

struct Options {
  std::string train_files;
  data::RecordShape shape;
  bool skip_bad = false;
};

// A store has no records: all of it is checked by its own sizes.
void require_no_shape(const Options& options) {
  const data::RecordShape& shape = options.shape;
  if (shape.sequence_length + shape.max_predictions + shape.vocabulary_size == 0) return;
  throw_user_error(
      "{} is a token store, whose tokens are not records yet; leave out --seq-length, "
      "--max-predictions-per-seq and --vocab-size",
      options.train_files);
}

data::Verification verify(const Options& options) {
  const bool is_store = data::is_token_store(options.train_files);
  if (is_store) require_no_shape(options);
  const auto files = platform::expand_paths(options.train_files);
  int64_t total = 0;
  for (const auto& file : files) total += platform::file_bytes(file);
  std::atomic<int64_t> bytes = 0;
  const auto progress = [&](int64_t so_far) { bytes = so_far; };
  const WorkDisplay display(
      [&](double seconds) { return "checked " + describe_bytes(bytes, total, seconds); });
  const int threads = platform::available_threads();
  if (is_store) {
    return data::verify_token_store(options.train_files, threads, progress);
  }
  return data::verify_records(files, options.shape, threads, progress);
}

void run(const Options& options) {
  const data::Verification result = verify(options);
  print_defects(result.bad);
  fmt::print("files {}\nbytes {}\ngood records {}\nbad records {}\n", result.files, result.bytes,
             result.records, result.bad.size());
  if (!result.bad.empty() && !options.skip_bad) {
    throw_data_error("{} bad records; make them again, or add --skip-bad to accept them here",
                     result.bad.size());
  }
}

void add_options(OptionTable& table, Options& o) {
  add_record_options(table, o.train_files, o.shape);
  table.add("skip_bad", &o.skip_bad, "Count bad records, and exit with success");
}

}  // namespace

void add_data_verify(Subcommand data) {
  data.add_command("verify",
                   {"Read and check every record, or all of a token store",
                    "cloze data verify --train-file records.tfrecord"},
                   add_options, run);
}

}  // namespace cloze::cli

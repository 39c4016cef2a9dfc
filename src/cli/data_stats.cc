#include "cli/data_stats.h"

#include <fmt/core.h>

#include <memory>
#include <string>

#include "data/packed_dataset.h"
#include "data/statistics.h"
#include "platform/file.h"
#include "platform/parallel_for.h"

namespace cloze::cli {
namespace {

struct Options {
  std::string train_files;
  std::string lengths_file;
  data::RecordShape shape;
};

void run(const Options& options) {
  const auto files = platform::expand_paths(options.train_files);
  const int threads = platform::available_threads();
  const auto dataset = data::open_records(files, options.shape, threads);
  const data::DatasetStatistics statistics = data::measure(*dataset, threads);
  const double records = static_cast<double>(statistics.records);
  fmt::print("files {}\nrecords {}\n", files.size(), statistics.records);
  const int64_t longest = statistics.lengths.longest();
  fmt::print("tokens {} (mean {:.1f}, longest {})\n", statistics.tokens(), statistics.mean_length(),
             longest);
  fmt::print("padding to the longest {:.1f} %\n",
             100 * (1 - statistics.mean_length() / static_cast<double>(longest)));
  fmt::print("predictions {} (mean {:.2f})\n", statistics.predictions,
             statistics.mean_predictions());
  fmt::print("random next sentence {:.1f} %\n",
             100 * static_cast<double>(statistics.random_next) / records);
  fmt::print("unigram entropy of the labels {:.4f} nats\n", statistics.unigram_entropy);
  if (!options.lengths_file.empty()) {
    platform::write_file_atomically(options.lengths_file,
                                    data::length_histogram_text(statistics.lengths));
  }
}

}  // namespace

void add_data_stats(Subcommand parent) {
  Subcommand command = parent.add_subcommand("stats", "Count what pre-training records hold");
  const auto options = std::make_shared<Options>();
  command.add_option("--train-file", options->train_files, "TFRecord files: comma list, globs")
      .required();
  command.add_option("--seq-length", options->shape.sequence_length,
                     "Refuse records of another length");
  command.add_option("--max-predictions-per-seq", options->shape.max_predictions,
                     "Refuse records with another number of slots");
  command.add_option("--vocab-size", options->shape.vocabulary_size,
                     "Refuse ids that are not below");
  command.add_option("--lengths", options->lengths_file,
                     "File to write: how many records there are of each length");
  command.set_action([options] { run(*options); });
}

}  // namespace cloze::cli

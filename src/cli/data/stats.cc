#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cli/console/work_display.h"
#include "cli/data/data_options.h"
#include "cli/options/commands.h"
#include "data/id_count.h"
#include "data/inspection/statistics.h"
#include "data/offline_packing/length_histogram.h"
#include "data/records/record_dataset.h"
#include "data/token_store/token_store_dataset.h"
#include "platform/available_threads.h"
#include "platform/files/atomic_file.h"
#include "platform/files/input_paths.h"

namespace cloze::cli {
namespace {

struct Options {
  std::string train_files;
  data::RecordShape shape;
  std::string lengths_file;
  std::string histogram_file;
};

struct OpenedData {
  std::unique_ptr<data::Dataset> dataset;
  int32_t unknown_id = -1;  // of [UNK]; -1: not known
};

OpenedData open_store(const Options& options) {
  auto drawn = open_drawn_samples(options.train_files, options.shape);
  const data::TokenStoreManifest& manifest = drawn->store().manifest();
  fmt::print("documents {}\nsentences {}\nstored tokens {}\nshards {}\n", manifest.documents,
             manifest.sentences, manifest.tokens, manifest.shards.size());
  const double inside = drawn->pairs_inside_a_sentence();
  fmt::print("pairs cut inside a sentence {:.1f} %\n", 100 * inside);
  print_pair_notice(inside,
                    "the pairs are cut inside a sentence, because no other sentence begins nearby",
                    ", otherwise train with --next-sentence none");
  const int32_t unknown_id = drawn->store().vocabulary().unknown_id();
  return {std::move(drawn), unknown_id};
}

void require_other_files(std::vector<std::filesystem::path> inputs, const Options& options) {
  platform::require_other_files(
      {.inputs = std::move(inputs), .outputs = {options.lengths_file, options.histogram_file}});
}

OpenedData open_data(const Options& options) {
  if (data::is_token_store(options.train_files)) {
    require_other_files({options.train_files}, options);
    return open_store(options);
  }
  const auto files = platform::expand_paths(options.train_files);
  require_other_files(platform::expand_paths_with_folders(options.train_files), options);
  fmt::print("files {}\n", files.size());
  auto records = std::make_unique<data::RecordDataset>(
      files,
      data::RecordDatasetOptions{.shape = options.shape, .threads = platform::available_threads()});
  const int32_t unknown_id = data::likely_unknown_id(*records);
  return {std::move(records), unknown_id};
}

void print_statistics(const data::DatasetStatistics& statistics, int32_t unknown_id) {
  const int64_t longest = statistics.lengths.longest();
  fmt::print("records {}\ntokens {} (mean {:.1f}, longest {})\n", statistics.records,
             statistics.tokens(), statistics.mean_length(), longest);
  fmt::print("padding to the longest {:.1f} %\n",
             100 * (1 - statistics.mean_length() / static_cast<double>(longest)));
  if (unknown_id >= 0) {
    fmt::print("[UNK] (id {}) {:.2f} % of the tokens\n", unknown_id,
               percent(statistics.unknown, statistics.tokens()));
  }
  fmt::print("predictions {} (mean {:.2f}, {:.2f} % of the tokens)\n", statistics.predictions,
             statistics.mean_predictions(), percent(statistics.predictions, statistics.tokens()));
  const int64_t others =
      statistics.predictions - statistics.masked_by_mask - statistics.masked_unchanged;
  fmt::print("masked by [MASK] (id {}) {:.2f} %, unchanged {:.2f} %, random {:.2f} %\n",
             statistics.mask_id, percent(statistics.masked_by_mask, statistics.predictions),
             percent(statistics.masked_unchanged, statistics.predictions),
             percent(others, statistics.predictions));
  fmt::print("random next sentence {:.1f} %\n",
             percent(statistics.random_next, statistics.records));
  fmt::print("unigram entropy of the labels {:.4f} nats\n", statistics.unigram_entropy);
}

void run(const Options& options) {
  const OpenedData data = open_data(options);
  const auto statistics = measure_with_display(*data.dataset, data.unknown_id);
  print_statistics(statistics, data.unknown_id);
  if (!options.lengths_file.empty()) {
    platform::write_file_atomically(options.lengths_file,
                                    data::length_histogram_text(statistics.lengths));
  }
  if (!options.histogram_file.empty()) {
    platform::write_file_atomically(
        options.histogram_file,
        data::length_histogram_svg(
            statistics.lengths,
            fmt::format("{} sequences, {} tokens", statistics.records, statistics.tokens())));
  }
}

void add_options(OptionTable& table, Options& o) {
  add_record_options(table, o.train_files, o.shape);
  table.add("lengths", &o.lengths_file, "File to write: the number of records of each length");
  table.add("histogram", &o.histogram_file, "SVG file to write: the lengths as a picture");
}

}  // namespace

void add_data_stats(Subcommand data) {
  data.add_command("stats",
                   {"Count what records or the samples of a token store hold",
                    "cloze data stats --train-file records.tfrecord"},
                   add_options, run);
}

}  // namespace cloze::cli

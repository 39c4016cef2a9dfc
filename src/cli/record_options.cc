#include "cli/record_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>

#include "base/error.h"
#include "cli/work_display.h"
#include "platform/available_threads.h"

namespace cloze::cli {

void add_record_options(Subcommand& command, RecordFlags& flags) {
  command
      .add_option("--train-file", flags.train_files,
                  "Record files: comma list, globs, folders; or a token store")
      .required();
  command.add_option("--seq-length", flags.shape.sequence_length,
                     "Tokens in a record; others are refused");
  command.add_option("--max-predictions-per-seq", flags.shape.max_predictions,
                     "Prediction slots in a record; others are refused");
  command.add_option("--vocab-size", flags.shape.vocabulary_size, "Bound of all ids");
}

std::unique_ptr<data::TokenStoreDataset> open_drawn_samples(const RecordFlags& flags) {
  const data::RecordShape& shape = flags.shape;
  if (shape.sequence_length < 1 || shape.max_predictions < 1) {
    throw_user_error("samples are drawn from {}; give --seq-length and --max-predictions-per-seq",
                     flags.train_files);
  }
  return std::make_unique<data::TokenStoreDataset>(
      std::make_shared<const data::TokenStore>(flags.train_files),
      data::DrawingOptions{.pairs = {.masking = {.sequence_length = shape.sequence_length,
                                                 .max_predictions = shape.max_predictions}}});
}

data::DatasetStatistics measure_with_display(const data::Dataset& dataset) {
  std::atomic<int64_t> done = 0;
  const auto size = static_cast<double>(dataset.size());
  const WorkDisplay display([&](double seconds) {
    const auto count = static_cast<double>(done);
    return fmt::format("counted {:.0f} % of {:.0f} samples, {:.0f} s left", 100 * count / size,
                       size, seconds_left(count, size, seconds));
  });
  return data::measure(dataset, platform::available_threads(),
                       [&](int64_t so_far) { done = so_far; });
}

void print_pair_notice(double share, std::string_view what, std::string_view otherwise) {
  constexpr double kNoticeable = 0.25;
  if (share < kNoticeable) return;
  fmt::print(stderr,
             "note: {:.0f} % of {}; if a line of the text holds several sentences, set "
             "--input-format paragraphs{}\n",
             100 * share, what, otherwise);
}

void print_defects(const std::vector<data::RecordDefect>& defects) {
  constexpr size_t kShown = 20;
  for (size_t i = 0; i < std::min(defects.size(), kShown); ++i) {
    fmt::print(stderr, "{}\n", defects[i].text());
  }
  if (defects.size() > kShown) fmt::print(stderr, "... {} more\n", defects.size() - kShown);
}

std::vector<std::filesystem::path> split_path_list(std::string_view comma_list) {
  std::vector<std::filesystem::path> paths;
  while (!comma_list.empty()) {
    const size_t comma = std::min(comma_list.find(','), comma_list.size());
    if (comma > 0) paths.emplace_back(comma_list.substr(0, comma));
    comma_list.remove_prefix(std::min(comma + 1, comma_list.size()));
  }
  return paths;
}

}  // namespace cloze::cli

#include "cli/record_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>

#include "base/error.h"
#include "cli/work_display.h"
#include "platform/available_threads.h"

namespace cloze::cli {

void add_record_options(OptionTable& table, std::string& train_files, data::RecordShape& shape) {
  table.add("train_file", &train_files,
            "Record files: comma list, globs, folders; or a token store", {.is_required = true});
  table.add("seq_length", &shape.sequence_length, "Tokens in a record, others are refused; 0: any",
            {.minimum = 0});
  table.add("max_predictions_per_seq", &shape.max_predictions,
            "Prediction slots in a record, others are refused; 0: any", {.minimum = 0});
  table.add("vocab_size", &shape.vocabulary_size, "Bound of all ids; 0: any", {.minimum = 0});
}

std::unique_ptr<data::TokenStoreDataset> open_drawn_samples(const std::string& token_store,
                                                            const data::RecordShape& shape) {
  if (shape.sequence_length < 1 || shape.max_predictions < 1) {
    throw_user_error("samples are drawn from {}; give --seq-length and --max-predictions-per-seq",
                     token_store);
  }
  return std::make_unique<data::TokenStoreDataset>(
      std::make_shared<const data::TokenStore>(token_store),
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

}  // namespace cloze::cli

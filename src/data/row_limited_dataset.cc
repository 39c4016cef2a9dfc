#include "data/row_limited_dataset.h"

#include <fmt/format.h>

#include <algorithm>

namespace cloze::data {

Sample RowLimitedDataset::sample(int64_t index, int64_t epoch) const {
  Sample sample = dataset_->sample(index, epoch);
  const auto is_rowless = [&](int32_t id) { return id >= limit_.rows; };
  std::ranges::replace_if(sample.input_ids, is_rowless, limit_.unknown_id);
  std::ranges::replace_if(sample.masked_labels, is_rowless, limit_.unknown_id);
  return sample;
}

std::string RowLimitedDataset::fingerprint() const {
  return fmt::format("{}, ids from {} on read as {}", dataset_->fingerprint(), limit_.rows,
                     limit_.unknown_id);
}

RowLimitedDataset::Count RowLimitedDataset::count(int64_t max_samples) const {
  Count count{.samples = std::min(size(), max_samples)};
  for (int64_t i = 0; i < count.samples; ++i) {
    const auto place = static_cast<__int128>(i) * size() / count.samples;
    Sample text = dataset_->sample(static_cast<int64_t>(place), 0);
    for (size_t masked = 0; masked < text.masked_positions.size(); ++masked) {
      text.input_ids[text.masked_positions[masked]] = text.masked_labels[masked];
    }
    count.tokens += std::ssize(text.input_ids);
    count.rowless +=
        std::ranges::count_if(text.input_ids, [&](int32_t id) { return id >= limit_.rows; });
  }
  return count;
}

}  // namespace cloze::data

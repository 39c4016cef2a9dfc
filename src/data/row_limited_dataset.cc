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

}  // namespace cloze::data

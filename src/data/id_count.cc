#include "data/id_count.h"

#include <algorithm>

namespace cloze::data {

std::vector<int32_t> unmasked_ids(const Sample& sample) {
  std::vector<int32_t> ids = sample.input_ids;
  for (size_t masked = 0; masked < sample.masked_positions.size(); ++masked) {
    ids[static_cast<size_t>(sample.masked_positions[masked])] = sample.masked_labels[masked];
  }
  return ids;
}

IdCount count_ids(const Dataset& dataset, int64_t max_samples,
                  const std::function<bool(int32_t)>& is_counted) {
  IdCount count{.samples = std::min(dataset.size(), max_samples)};
  for (int64_t i = 0; i < count.samples; ++i) {
    const auto place = static_cast<__int128>(i) * dataset.size() / count.samples;
    const auto ids = unmasked_ids(dataset.sample(static_cast<int64_t>(place), 0));
    count.tokens += std::ssize(ids);
    count.found += std::ranges::count_if(ids, is_counted);
  }
  return count;
}

int32_t likely_unknown_id(const Dataset& dataset) {
  if (dataset.size() == 0) return -1;
  const Sample first = dataset.sample(0, 0);
  return first.input_ids.empty() ? -1 : first.input_ids.front() - 1;
}

}  // namespace cloze::data

#include "tasks/class_logits.h"

#include <algorithm>

#include "tasks/logits.h"

namespace cloze::tasks {

std::vector<std::vector<float>> class_logits(inference::InferenceClient& client,
                                             std::span<const data::Sample> samples) {
  std::vector<std::vector<float>> rows(samples.size());
  const size_t width = client.model().head().labels.size();
  client.run(samples, [&](const data::MicroBatch& batch) {
    const std::span<const float> logits = client.output("class_logits");
    for (int64_t b = 0; b < batch.num_sequences; ++b) {
      const auto row = logits.subspan(static_cast<size_t>(b) * width, width);
      require_finite(row, "a text");
      rows[static_cast<size_t>(batch.sequence_ids[b])].assign(row.begin(), row.end());
    }
  });
  return rows;
}

std::vector<double> class_predictions(std::span<const std::vector<float>> logits) {
  std::vector<double> predictions;
  predictions.reserve(logits.size());
  for (const std::vector<float>& row : logits) {
    const auto largest = std::max_element(row.begin(), row.end()) - row.begin();
    predictions.push_back(row.size() == 1 ? row[0] : static_cast<double>(largest));
  }
  return predictions;
}

}  // namespace cloze::tasks

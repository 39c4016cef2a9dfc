#include "data/creation/masking.h"

#include <algorithm>
#include <cmath>

namespace cloze::data {
namespace {

constexpr double kMaskShare = 0.8;
constexpr double kKeepShareOfRest = 0.5;

int32_t replacement(int32_t original, const VocabularyIds& vocabulary, RandomSource& random) {
  if (random.uniform() < kMaskShare) return vocabulary.mask;
  if (random.uniform() < kKeepShareOfRest) return original;
  return static_cast<int32_t>(random.below(static_cast<uint32_t>(vocabulary.size)));
}

}  // namespace

int64_t predictions_for(int64_t length, const MaskingOptions& options) {
  const double share = static_cast<double>(length) * options.probability;
  const auto wanted = static_cast<int64_t>(std::nearbyint(share));  // half to even
  const int64_t n = std::min(options.max_predictions, std::max<int64_t>(1, wanted));
  if (!options.keep_room_for_slots) return n;
  return std::max(n, length - options.sequence_length + options.max_predictions);
}

void mask_sample(const MaskingOptions& options, const VocabularyIds& vocabulary,
                 RandomSource& random, Sample& sample) {
  std::vector<int32_t> candidates;
  for (size_t i = 0; i < sample.input_ids.size(); ++i) {
    const int32_t id = sample.input_ids[i];
    if (id != vocabulary.cls && id != vocabulary.sep) candidates.push_back(static_cast<int32_t>(i));
  }
  shuffle(candidates, random);
  const auto length = static_cast<int64_t>(sample.input_ids.size());
  const auto n = std::min(static_cast<size_t>(predictions_for(length, options)), candidates.size());
  const std::vector<int32_t> original = sample.input_ids;
  for (size_t i = 0; i < n; ++i) {
    int32_t& id = sample.input_ids[static_cast<size_t>(candidates[i])];
    id = replacement(id, vocabulary, random);
  }
  candidates.resize(n);
  std::sort(candidates.begin(), candidates.end());
  sample.masked_positions = candidates;
  sample.masked_labels.clear();
  for (int32_t position : candidates) {
    sample.masked_labels.push_back(original[static_cast<size_t>(position)]);
  }
}

}  // namespace cloze::data

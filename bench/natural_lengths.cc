#include "natural_lengths.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "data/offline_packing/length_histogram.h"

namespace cloze::bench {
namespace {

constexpr double kMaskedShare = 0.15;

// The first `length` tokens; predictions at equal distances in them.
data::Sample natural_sample(data::Sample sample, int64_t length, int64_t max_predictions) {
  const auto wanted = std::llround(kMaskedShare * static_cast<double>(length));
  const int64_t predictions = std::clamp<int64_t>(wanted, 1, max_predictions);
  sample.masked_positions.clear();
  sample.masked_labels.clear();
  for (int64_t i = 0; i < predictions; ++i) {
    const int64_t position = (2 * i + 1) * length / (2 * predictions);
    sample.masked_positions.push_back(static_cast<int32_t>(position));
    sample.masked_labels.push_back(sample.input_ids[static_cast<size_t>(position)]);
  }
  sample.input_ids.resize(static_cast<size_t>(length));
  sample.token_type_ids.resize(static_cast<size_t>(length));
  return sample;
}

}  // namespace

NaturalLengths::NaturalLengths(const std::filesystem::path& histogram,
                               const data::GeneratedOptions& contents)
    : contents_(contents), dataset_(contents), lengths_(data::read_length_histogram(histogram)) {
  if (lengths_.longest() > contents.sequence_length) {
    throw_user_error("{} has sequences of {} tokens; seq_length is {}", histogram.string(),
                     lengths_.longest(), contents.sequence_length);
  }
}

NaturalStep NaturalLengths::step(int64_t first, int64_t count, bool is_padded) const {
  NaturalStep step;
  for (int64_t index = first; index < first + count; ++index) {
    const int64_t tokens = lengths_.length(index);
    const data::Sample full = dataset_.sample(index, 0);
    data::Sample sample = natural_sample(full, tokens, contents_.max_predictions);
    if (is_padded) {
      sample.input_ids = full.input_ids;
      sample.token_type_ids = full.token_type_ids;
    }
    step.samples.push_back(std::move(sample));
    step.real_tokens += tokens;
    step.real_squared_lengths += tokens * tokens;
  }
  return step;
}

}  // namespace cloze::bench

#include "inference/made_up_samples.h"

#include "base/error.h"
#include "base/philox.h"

namespace cloze::inference {

MadeUpSamples::MadeUpSamples(const PackedModel& model, int64_t length,
                             const std::filesystem::path& histogram)
    : config_(model.config()), kind_(model.head().kind), length_(length) {
  if (!histogram.empty()) lengths_.emplace(data::read_length_histogram(histogram));
  const int64_t longest = lengths_ ? lengths_->longest() : length;
  if (longest > config_.max_position_embeddings) {
    throw_user_error("sequences of {} tokens; the model has {} positions", longest,
                     config_.max_position_embeddings);
  }
}

std::vector<data::Sample> MadeUpSamples::batch(int64_t first, int64_t count) const {
  std::vector<data::Sample> samples;
  for (int64_t index = first; index < first + count; ++index) samples.push_back(sample(index));
  return samples;
}

data::Sample MadeUpSamples::sample(int64_t index) const {
  constexpr uint64_t kSeed = 1;
  const int64_t length = lengths_ ? lengths_->length(index) : length_;
  PhiloxStream random(kSeed, static_cast<uint64_t>(index));
  data::Sample sample;
  for (int64_t i = 0; i < length; ++i) {
    sample.input_ids.push_back(
        static_cast<int32_t>(random.below(static_cast<uint32_t>(config_.vocab_size))));
    sample.token_type_ids.push_back(2 * i < length || config_.type_vocab_size < 2 ? 0 : 1);
  }
  if (kind_ == models::HeadKind::kPretraining) {
    sample.masked_positions = {static_cast<int32_t>(length / 2)};
    sample.masked_labels = {0};
  }
  return sample;
}

}  // namespace cloze::inference

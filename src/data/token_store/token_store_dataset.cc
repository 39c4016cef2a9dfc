#include "data/token_store/token_store_dataset.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "data/part_place.h"

namespace cloze::data {
namespace {

// Streams of random numbers: the epoch above, the sample below.
constexpr int kEpochShift = 40;

void check(const DrawingOptions& options) {
  constexpr int64_t kMinSequenceLength = 5;
  const MaskingOptions& masking = options.pairs.masking;
  if (masking.sequence_length < kMinSequenceLength) {
    throw_user_error("sequences of {} tokens; they need at least {}", masking.sequence_length,
                     kMinSequenceLength);
  }
  if (masking.max_predictions < 1) {
    throw_user_error("{} predictions a sequence; there must be at least 1",
                     masking.max_predictions);
  }
}

}  // namespace

TokenStoreDataset::TokenStoreDataset(std::shared_ptr<const TokenStore> store,
                                     const DrawingOptions& options)
    : store_(std::move(store)),
      options_(options),
      instances_(*store_, vocabulary_ids(store_->vocabulary()), options.pairs) {
  check(options);
  int64_t samples = 0;
  sample_ends_.reserve(static_cast<size_t>(store_->documents()));
  for (const TokenShard& shard : store_->shards()) {
    for (int64_t document = 0; document < shard.header().documents; ++document) {
      samples += samples_of(shard.tokens_in(document));
      sample_ends_.push_back(samples);
    }
  }
}

int64_t TokenStoreDataset::samples_of(int64_t tokens) const {
  const int64_t full = instances_.max_tokens();
  return std::max<int64_t>(1, (tokens + full / 2) / full);
}

Sample TokenStoreDataset::sample(int64_t index, int64_t epoch) const {
  CLOZE_CHECK(index >= 0 && index < size(), "sample {} of {}", index, size());
  const auto [document, number] = part_place(sample_ends_, index);
  const int64_t samples = sample_ends_[document] - (index - number);
  PhiloxSource random(options_.seed,
                      static_cast<uint64_t>(epoch) << kEpochShift | static_cast<uint64_t>(index));

  const double full = static_cast<double>(instances_.max_tokens());
  const double tokens = static_cast<double>(store_->tokens_in(document));
  const double place = static_cast<double>(number) + random.uniform();
  const double start = place * tokens / static_cast<double>(samples) - full / 2;
  const double token = std::clamp(start, 0.0, std::max(0.0, tokens - full));
  const int64_t sentence = store_->sentence_from(document, static_cast<int64_t>(token));
  return instances_.draw(document, sentence, random);
}

std::string TokenStoreDataset::fingerprint() const {
  const PairOptions& pairs = options_.pairs;
  const MaskingOptions& masking = pairs.masking;
  return fmt::format("{} S {} M {} mask {} words {} short {} next {}", store_->fingerprint(),
                     masking.sequence_length, masking.max_predictions, masking.probability,
                     masking.whole_words, pairs.short_sequence_probability,
                     static_cast<int>(pairs.next_sentence));
}

}  // namespace cloze::data

#include "data/token_store/token_store_dataset.h"

#include "base/error.h"
#include "data/sequence.h"

namespace cloze::data {
namespace {

DrawingOptions checked(const DrawingOptions& options) {
  const MaskingOptions& masking = options.pairs.masking;
  if (masking.sequence_length < kShortestPair) {
    throw_user_error("sequences of {} tokens; they need at least {}", masking.sequence_length,
                     kShortestPair);
  }
  if (masking.max_predictions < 1) {
    throw_user_error("{} predictions a sequence; there must be at least 1",
                     masking.max_predictions);
  }
  return options;
}

}  // namespace

TokenStoreDataset::TokenStoreDataset(std::shared_ptr<const TokenStore> store,
                                     const DrawingOptions& options)
    : store_(std::move(store)),
      options_(checked(options)),
      instances_(*store_, vocabulary_ids(store_->vocabulary()), options_.pairs, options_.seed) {}

Sample TokenStoreDataset::sample(int64_t index, int64_t epoch) const {
  return instances_.instance(index, epoch);
}

std::string TokenStoreDataset::fingerprint() const {
  const WindowOptions& pairs = options_.pairs;
  const MaskingOptions& masking = pairs.masking;
  return fmt::format("windows of {} S {} M {} mask {} words {} short {} next {}",
                     store_->fingerprint(), masking.sequence_length, masking.max_predictions,
                     masking.probability, masking.whole_words, pairs.short_sequence_probability,
                     static_cast<int>(pairs.next_sentence));
}

}  // namespace cloze::data

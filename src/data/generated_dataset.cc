#include "data/generated_dataset.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/philox.h"
#include "data/sequence.h"

namespace cloze::data {
namespace {

// The ids of [CLS], [SEP] and [MASK] in BERT's vocabularies; smaller vocabularies wrap around.
constexpr int64_t kClsId = 101;
constexpr int64_t kSepId = 102;
constexpr int64_t kMaskId = 103;

// `count` of the positions that are neither the first, nor `border`, nor the last; ascending.
std::vector<int32_t> draw_positions(int64_t length, int64_t border, int64_t count,
                                    PhiloxStream& random) {
  std::vector<int32_t> positions(static_cast<size_t>(length - 2));
  std::iota(positions.begin(), positions.end(), 1);
  positions.erase(positions.begin() + (border - 1));
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const auto rest = static_cast<uint32_t>(positions.size() - i);
    std::swap(positions[i], positions[i + random.below(rest)]);
  }
  positions.resize(static_cast<size_t>(count));
  std::sort(positions.begin(), positions.end());
  return positions;
}

}  // namespace

GeneratedDataset::GeneratedDataset(const GeneratedOptions& options) : options_(options) {
  const int64_t S = options.sequence_length;
  if (S < kShortestPair) {
    throw_user_error("generated data: sequence length {} is under {}", S, kShortestPair);
  }
  if (options.max_predictions < 0 || options.max_predictions > S - kPairBorders) {
    throw_user_error("generated data: {} predictions do not fit into sequences of {}; at most {}",
                     options.max_predictions, S, S - kPairBorders);
  }
  if (options.vocabulary_size < 1 || options.size < 1) {
    throw_user_error("generated data: vocabulary size {} and size {} must be positive",
                     options.vocabulary_size, options.size);
  }
}

Sample GeneratedDataset::sample(int64_t index, int64_t /*epoch*/) const {
  PhiloxStream random(options_.seed, static_cast<uint64_t>(index));
  const int64_t S = options_.sequence_length;
  const auto vocabulary = static_cast<uint32_t>(options_.vocabulary_size);
  const auto special = [&](int64_t id) {
    return static_cast<int32_t>(id % options_.vocabulary_size);
  };
  Sample sample;
  sample.input_ids.resize(static_cast<size_t>(S));
  for (int32_t& id : sample.input_ids) id = static_cast<int32_t>(random.below(vocabulary));
  const int64_t border = 2 + random.below(static_cast<uint32_t>(S - 4));  // the first [SEP]
  sample.input_ids.front() = special(kClsId);
  sample.input_ids[static_cast<size_t>(border)] = special(kSepId);
  sample.input_ids.back() = special(kSepId);
  sample.token_type_ids.assign(static_cast<size_t>(border + 1), 0);
  sample.token_type_ids.resize(static_cast<size_t>(S), 1);
  sample.masked_positions = draw_positions(S, border, options_.max_predictions, random);
  for (int32_t position : sample.masked_positions) {
    int32_t& id = sample.input_ids[static_cast<size_t>(position)];
    sample.masked_labels.push_back(id);
    id = special(kMaskId);
  }
  sample.next_sentence_label = static_cast<int32_t>(random.below(2));
  return sample;
}

std::string GeneratedDataset::fingerprint() const {
  return fmt::format("{} generated samples S {} M {} V {} seed {}", options_.size,
                     options_.sequence_length, options_.max_predictions, options_.vocabulary_size,
                     options_.seed);
}

}  // namespace cloze::data

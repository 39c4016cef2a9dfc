#include "data/instances/masking.h"

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

// A range of the candidates.
struct Word {
  int32_t begin = 0;
  int32_t end = 0;
};

std::vector<int32_t> maskable_positions(const Sample& sample, const VocabularyIds& vocabulary) {
  std::vector<int32_t> positions;
  for (size_t i = 0; i < sample.input_ids.size(); ++i) {
    const int32_t id = sample.input_ids[i];
    if (id != vocabulary.cls && id != vocabulary.sep) positions.push_back(static_cast<int32_t>(i));
  }
  return positions;
}

std::vector<Word> words_of(const std::vector<int32_t>& candidates, const Sample& sample,
                           const MaskingOptions& options, const VocabularyIds& vocabulary) {
  std::vector<Word> words;
  for (int32_t i = 0; i < static_cast<int32_t>(candidates.size()); ++i) {
    const int32_t id = sample.input_ids[candidates[i]];
    if (options.whole_words && !words.empty() && vocabulary.continues_word[id] != 0) {
      words.back().end = i + 1;
    } else {
      words.push_back({i, i + 1});
    }
  }
  return words;
}

}  // namespace

VocabularyIds vocabulary_ids(const text::Vocabulary& vocabulary) {
  VocabularyIds ids{.cls = vocabulary.cls_id(),
                    .sep = vocabulary.sep_id(),
                    .mask = vocabulary.mask_id(),
                    .size = vocabulary.size()};
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    ids.continues_word.push_back(vocabulary.token(id).starts_with(text::kContinuation) ? 1 : 0);
  }
  return ids;
}

int64_t predictions_for(int64_t length, const MaskingOptions& options) {
  const double share = static_cast<double>(length) * options.probability;
  const auto wanted = static_cast<int64_t>(std::nearbyint(share));  // half to even
  return std::min(options.max_predictions, std::max<int64_t>(1, wanted));
}

int64_t longest_with_slots(const MaskingOptions& options) {
  int64_t length = options.sequence_length;
  while (options.max_predictions + length - predictions_for(length, options) >
         options.sequence_length) {
    --length;
  }
  return length;
}

void mask_sample(const MaskingOptions& options, const VocabularyIds& vocabulary,
                 RandomSource& random, Sample& sample) {
  const std::vector<int32_t> candidates = maskable_positions(sample, vocabulary);
  std::vector<Word> words = words_of(candidates, sample, options, vocabulary);
  shuffle(words, random);
  const auto length = static_cast<int64_t>(sample.input_ids.size());
  const auto n = static_cast<size_t>(predictions_for(length, options));
  const std::vector<int32_t> original = sample.input_ids;
  std::vector<int32_t>& chosen = sample.masked_positions;
  chosen.clear();
  for (const Word& word : words) {
    if (chosen.size() >= n) break;
    if (chosen.size() + static_cast<size_t>(word.end - word.begin) > n) continue;
    for (int32_t i = word.begin; i < word.end; ++i) {
      chosen.push_back(candidates[i]);
      int32_t& id = sample.input_ids[candidates[i]];
      id = replacement(id, vocabulary, random);
    }
  }
  std::sort(chosen.begin(), chosen.end());
  sample.masked_labels.clear();
  for (const int32_t position : chosen) sample.masked_labels.push_back(original[position]);
}

}  // namespace cloze::data

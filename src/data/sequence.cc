#include "data/sequence.h"

namespace cloze::data {

Sample sequence_of(std::span<const int32_t> first, std::optional<std::span<const int32_t>> second,
                   const BorderIds& borders, int32_t label) {
  Sample sample{.input_ids = {borders.cls}, .next_sentence_label = label};
  const auto append = [&](std::span<const int32_t> part, int32_t type) {
    sample.input_ids.insert(sample.input_ids.end(), part.begin(), part.end());
    sample.input_ids.push_back(borders.sep);
    sample.token_type_ids.resize(sample.input_ids.size(), type);
  };
  sample.input_ids.reserve(first.size() + (second ? second->size() : 0) + kPairBorders);
  append(first, 0);
  if (second) append(*second, 1);
  return sample;
}

}  // namespace cloze::data

#include "data/instances/sequence.h"

namespace cloze::data {

Sample sequence_of(std::span<const int32_t> first, std::span<const int32_t> second, int32_t label,
                   const VocabularyIds& vocabulary) {
  Sample sample{.next_sentence_label = label};
  std::vector<int32_t>& ids = sample.input_ids;
  ids.reserve(first.size() + second.size() + 3);
  ids.push_back(vocabulary.cls);
  ids.insert(ids.end(), first.begin(), first.end());
  ids.push_back(vocabulary.sep);
  sample.token_type_ids.assign(ids.size(), 0);
  if (second.empty()) return sample;
  ids.insert(ids.end(), second.begin(), second.end());
  ids.push_back(vocabulary.sep);
  sample.token_type_ids.resize(ids.size(), 1);
  return sample;
}

}  // namespace cloze::data

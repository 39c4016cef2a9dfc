// Sample: one pre-training sequence as the engine sees it, whatever file format it came from.
// No padding; [CLS] first; positions are 0, 1, 2 ... in text order (re-masked records are laid
// back in text order when they are decoded).
#pragma once

#include <cstdint>
#include <vector>

namespace cloze::data {

struct Sample {
  std::vector<int32_t> input_ids;         // [len]  after masking
  std::vector<int32_t> token_type_ids;    // [len]  0 for the first sentence, 1 for the second
  std::vector<int32_t> masked_positions;  // [p]    ascending, each in [0, len)
  std::vector<int32_t> masked_labels;     // [p]    the original ids there
  int32_t next_sentence_label = 0;        // 0: the second sentence really follows; 1: random
};

}  // namespace cloze::data

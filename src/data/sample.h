// Sample: one sequence as the engine sees it, whatever file format it came from, with what is to be
// learned of it: for pre-training, or for one of the tasks after it. The choices of a question are
// several sequences, one after the other. No padding; [CLS] first;
// positions are 0, 1, 2 ... in text order (re-masked records are laid back in text order when they
// are decoded).
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace cloze::data {

struct Sample {
  std::vector<int32_t> input_ids;         // [len]  after masking
  std::vector<int32_t> token_type_ids;    // [len]  0 for the first sentence, 1 for the second
  std::vector<int32_t> masked_positions;  // [p]    ascending, each in [0, len)
  std::vector<int32_t> masked_labels;   // [p]    the original ids there; of tasks, the labels that
                                        //        are predicted there
  std::vector<int32_t> choice_lengths;  // of each sequence; empty: it is one
  int32_t next_sentence_label = 0;      // 0: the second sentence really follows; 1: random;
                                        // -1: there is none, and nothing is learned of it

  int32_t class_label = -1;                               // classification; -1: not known
  float score = std::numeric_limits<float>::quiet_NaN();  // regression; not a number: not known
  int32_t start_position = -1;  // question answering: first and last token of the answer, both 0
  int32_t end_position = -1;    // ([CLS]) where the sequence holds none; -1: not known
};

}  // namespace cloze::data

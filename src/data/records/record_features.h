// The names of the features of a pre-training record, in its two layouts. S is the sequence length,
// M the number of prediction slots. All are int64 except the weights.
//
// Plain (Google's):
//   input_ids, input_mask, segment_ids      [S]  zero after the last token
//   masked_lm_positions, masked_lm_ids      [M]  zero in unused slots
//   masked_lm_weights             float     [M]  1 for a prediction, 0 in unused slots
//   next_sentence_labels                    [1]  1 when the second part is random
//
// Re-masked ("static mask"): slots 0 .. M-1 hold the masked tokens in text order, slots M .. all
// others in text order, so [CLS] is at M. Unused slots hold 0.
//   input_ids, segment_ids                  [S]  in slot order
//   input_position                          [S]  index in the text; unused: the pad position
//   mask_padding_index                      [1]  number of masked tokens
//   seq_padding_index                       [1]  slot after the last token
//   masked_labels                           [M]  the label of each masked slot
//   masked_lm_positions                     [n]  index in the text of each masked token, not padded
//   masked_lm_ids, masked_lm_weights        [M]  as above
//   next_sentence_labels                    [1]
//
// Sources: google-research/bert create_pretraining_data.py; graphcore/examples v3.0.0,
// nlp/bert/tensorflow1/bert_data.
#pragma once

#include <string_view>

namespace cloze::data::feature {

inline constexpr std::string_view kInputIds = "input_ids";
inline constexpr std::string_view kInputMask = "input_mask";
inline constexpr std::string_view kSegmentIds = "segment_ids";
inline constexpr std::string_view kMaskedPositions = "masked_lm_positions";
inline constexpr std::string_view kMaskedIds = "masked_lm_ids";
inline constexpr std::string_view kMaskedWeights = "masked_lm_weights";
inline constexpr std::string_view kNextSentenceLabels = "next_sentence_labels";
inline constexpr std::string_view kInputPosition = "input_position";
inline constexpr std::string_view kMaskPaddingIndex = "mask_padding_index";
inline constexpr std::string_view kSequencePaddingIndex = "seq_padding_index";
inline constexpr std::string_view kMaskedLabels = "masked_labels";

}  // namespace cloze::data::feature

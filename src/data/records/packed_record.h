// Packed pre-training records: several sequences in one row of S slots, as Graphcore's programs
// write them. Here they are taken apart again: the loader lays out sequences itself.
//
//   mask [S]        0: unused; k: belongs to the k-th sequence
//   position [S]    index of the slot's token in its sequence; slots are in any order
//   labels [P]      of the slots `prediction_slots`; where the weight is 0 there is none
//   nsp_labels [3]  label i, where nsp_weights is not 0, is of the sequence whose [CLS] stands
//                   in slot S - 3 + i
//
// Two forms, with P = M + 2 prediction slots for records of M:
//   TFRecord   packed_input_ids, packed_input_mask, packed_segment_ids, packed_position_ids [S];
//              packed_masked_lm_positions (slots), packed_masked_lm_ids, packed_masked_lm_mask
//              (float) [P]; packed_next_sentence_labels, packed_next_sentence_mask (float) [3]
//   binary     little endian u32: ids, mask, segment, position [S]; labels, weights [P] of the
//              slots 0 .. P-1; nsp_labels, nsp_weights [3]; records follow each other without a
//              header
//
// Source: graphcore/examples v3.0.0, nlp/bert; MLPerf training v2.0, Graphcore.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "data/records/record_reader.h"
#include "data/sample.h"
#include "formats/tf_example.h"

namespace cloze::data {

inline constexpr int64_t kSequencesPerPack = 3;

bool is_packed(const formats::TfExample& example);

// The sequences of one pack, in order. Everything is checked as in read_record.
Result<std::vector<Sample>> read_packed_record(const formats::TfExample& example,
                                               const RecordShape& shape);

// Bytes of a binary record; both sizes of `shape` must be given.
uint64_t packed_binary_bytes(const RecordShape& shape);
// `bytes` is one record of that size.
Result<std::vector<Sample>> read_packed_binary(std::span<const std::byte> bytes,
                                               const RecordShape& shape);

// Samples become a pack in the binary form, with the slots in the order that Graphcore's programs
// lay them in: masked tokens first, then all others and what is unused, and the sequences' first
// tokens at the very end.
// Of at most kSequencesPerPack samples, no first token of which is masked. UserError, with what to
// raise, when they have more tokens or predictions than a pack of this shape.
std::string encode_pack(std::span<const Sample> samples, const RecordShape& shape);

}  // namespace cloze::data

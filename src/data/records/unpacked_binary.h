// MLPerf's unpacked binary records, as Graphcore's record_to_binary writes them: 3 S + 3 M + 1
// words of 32 bits, little endian: input_ids, input_mask, segment_ids [S]; masked_lm_positions,
// masked_lm_ids, masked_lm_weights [M]; next_sentence_label.
// Source: MLPerf training v2.0, Graphcore, bert_data/record_to_binary.py.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "data/records/record_encoder.h"
#include "data/records/record_reader.h"

namespace cloze::data {

// The bytes of a record; both sizes of `shape` must be given.
uint64_t unpacked_binary_bytes(const RecordShape& shape);
// The one sample of a record of that size.
Result<std::vector<Sample>> read_unpacked_binary(std::span<const std::byte> bytes,
                                                 const RecordShape& shape);
// The sample has at most S tokens and M predictions.
std::string encode_unpacked_binary(const Sample& sample, const RecordLayout& layout);

}  // namespace cloze::data

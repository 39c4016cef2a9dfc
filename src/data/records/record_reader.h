// Record reader: the features of one pre-training record become a Sample. Both layouts of
// record_features.h are read; re-masked records are laid back in text order. Padding is dropped.
//
// Everything is checked: the lengths of the features against the configuration, ids against the
// vocabulary, positions and labels against their ranges. The error's message says both values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "data/sample.h"
#include "formats/tf_example.h"

namespace cloze::data {

// The sizes that the configuration expects of every record. Zero accepts any size.
struct RecordShape {
  int64_t sequence_length = 0;      // S: length of input_ids
  int64_t max_predictions = 0;      // M: number of prediction slots
  int64_t vocabulary_size = 0;      // ids and labels are below
  std::optional<bool> static_mask;  // re-masked or plain; nothing: whichever the record is
};

// The features of a plain record, wherever they were stored.
struct PlainRecord {
  std::span<const int64_t> input_ids, input_mask, segment_ids;  // [S]
  std::span<const int64_t> masked_positions, masked_ids;        // [M]
  std::span<const float> masked_weights;                        // [M]
  std::span<const int64_t> next_sentence_labels;                // [1]
};

// The error's offset is 0: the message names the feature.
Result<Sample> read_plain_record(const PlainRecord& record, const RecordShape& shape);
Result<Sample> read_record(const formats::TfExample& example, const RecordShape& shape);

}  // namespace cloze::data

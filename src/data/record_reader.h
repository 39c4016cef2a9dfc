// Record reader: the bytes of one pre-training record become a Sample. Both layouts of
// record_features.h are read; re-masked records are laid back in text order. Padding is dropped.
//
// Everything is checked: the lengths of the features against the configuration, ids against the
// vocabulary, positions and labels against their ranges. The error's message says both values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "data/sample.h"

namespace cloze::data {

// What the configuration expects of every record. Zero accepts any size.
struct RecordShape {
  int64_t sequence_length = 0;      // S: length of input_ids
  int64_t max_predictions = 0;      // M: number of prediction slots
  int64_t vocabulary_size = 0;      // ids and labels are below
  std::optional<bool> static_mask;  // re-masked or plain; nothing: whichever the record is
};

// The error's offset is 0: the message names the feature.
Result<Sample> read_record(std::span<const std::byte> payload, const RecordShape& shape);

}  // namespace cloze::data

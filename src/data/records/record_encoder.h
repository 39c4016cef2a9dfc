// Record encoder: a sample becomes the bytes of a tf.train.Example, plain or re-masked
// (record_features.h says what is in each), or of an unpacked binary record (unpacked_binary.h).
//
// A masked token that was replaced by [PAD] (id 0) keeps its slot in the re-masked layout; the
// program of the source drops it, and its label with it.
#pragma once

#include <cstdint>
#include <string>

#include "data/sample.h"

namespace cloze::data {

struct RecordLayout {
  int64_t sequence_length = 128;  // S
  int64_t max_predictions = 20;   // M
  bool remask = false;
  bool binary = false;  // not re-masked; such records follow one another without a frame
  int64_t pad_position_value = 384;  // re-masked only: input_position of unused slots
};

// The sample has at most S tokens and M predictions, and fits into M slots and the rest when
// re-masked; anything else is an internal error.
std::string encode_record(const Sample& sample, const RecordLayout& layout);

// Room for the slots of the re-masked layout: M reserved ones and one for each token that is not
// masked must fit into S; for a full sequence of Google's with fewer than M predictions they do
// not.
//
// Slots that the sample takes re-masked.
int64_t slots_of(const Sample& sample, const RecordLayout& layout);

// Takes tokens out until the slots fit: each time the last one of the longer part that is neither
// masked nor special. Returns how many; what is left still has too many slots when nothing else can
// be taken.
int64_t make_slot_room(const RecordLayout& layout, Sample& sample);

}  // namespace cloze::data

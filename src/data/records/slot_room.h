// Room for the slots of the re-masked layout: M reserved ones and a token each that is not masked
// must fit into S, which a full sequence of Google's with fewer than M predictions does not.
#pragma once

#include <cstdint>

#include "data/records/record_encoder.h"
#include "data/sample.h"

namespace cloze::data {

// Slots that the sample takes re-masked.
int64_t slots_of(const Sample& sample, const RecordLayout& layout);

// Takes tokens out until the slots fit: each time the last one of the longer part that is neither
// masked nor special. Returns how many; what is left still has too many slots when nothing else can
// be taken.
int64_t make_slot_room(const RecordLayout& layout, Sample& sample);

}  // namespace cloze::data

// The two histogram packings that walk from the longest length to the shortest; see
// histogram_packing.h. Sequences of one length that meet packs of one kind are placed together, so
// the work grows with L, not with the number of sequences. `limits` hold positive numbers.
#pragma once

#include "data/offline_packing/histogram_packing.h"

namespace cloze::data {

HistogramPacking pack_shortest_first(const LengthHistogram& histogram, const PackingLimits& limits);
HistogramPacking pack_longest_first(const LengthHistogram& histogram, const PackingLimits& limits);

}  // namespace cloze::data

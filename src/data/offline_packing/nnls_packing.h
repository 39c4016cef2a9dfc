// Non-negative least-squares histogram packing (NNLSHP): how many packs of each strategy reproduce
// the histogram best, where a strategy is a non-decreasing list of at most d lengths whose sum is
// L.
//
//   A [L, strategies]: how often a strategy holds a length;   h [L]: the histogram
//   x = nnls(A, b), rounded;  mixture += x;  the excess becomes padding, the remainder the next b
//
// up to 20 rounds, until fewer than 100 sequences are left; those get a pack each, with a partner
// of padding. A length of 8 or less weighs 8 / 2L, any other 1: padding takes the place of short
// sequences cheaply.
// Source: arXiv 2107.02027; Graphcore's MLPerf v2.0 submission, pack_pretraining_data.py.
#pragma once

#include <cstdint>
#include <vector>

#include "data/offline_packing/histogram_packing.h"

namespace cloze::data {

// All strategies of 1 to `depth` lengths, short lists first.
std::vector<std::vector<int32_t>> full_pack_strategies(int64_t pack_tokens, int64_t depth);

// UserError when the limits ask for more than a million strategies.
HistogramPacking pack_least_squares(const LengthHistogram& histogram, const PackingLimits& limits);

}  // namespace cloze::data

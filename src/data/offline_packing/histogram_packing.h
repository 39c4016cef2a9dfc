// Packing of a whole data set by its length histogram: which lengths share a pack of L tokens, and
// how many packs of each kind. The cost depends on L, never on the number of sequences.
//
//   spfhp   shortest-pack-first: from long to short, each sequence into the open pack with the most
//           room
//   lpfhp   longest-pack-first: the same into the open pack with the least room that suffices (best
//           fit); several of a length may enter one pack
//   nnlshp  non-negative least squares: packs that are exactly full (nnls_packing.h)
//
// Source: Krell et al., "Efficient Sequence Packing without Cross-contamination", arXiv 2107.02027.
// Training needs none of this (data/packer.h lays out each step as it comes); it is for packed
// files, and to say what a data set's padding costs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/offline_packing/length_histogram.h"

namespace cloze::data {

// `count` packs that hold sequences (or padding) of these lengths.
struct PackStrategy {
  std::vector<int32_t> lengths;
  int64_t count = 0;
};

struct HistogramPacking {
  int64_t pack_tokens = 0;  // L
  std::vector<PackStrategy> strategies;
  std::vector<int64_t>
      padding;                 // padding[l]: slots of l tokens that no sequence fills; may be empty
  int64_t num_candidates = 0;  // strategies considered; 0 where there is no such set
};

struct PackingLimits {
  int64_t pack_tokens = 0;         // L; 0: the longest length
  int64_t sequences_per_pack = 3;  // 0: no limit
};

enum class PackingAlgorithm { kShortestPackFirst, kLongestPackFirst, kLeastSquares };
// UserError that lists the names.
PackingAlgorithm packing_algorithm_named(std::string_view name);

// UserError when a length is over L or the limits are not positive numbers.
HistogramPacking pack_histogram(const LengthHistogram& histogram, PackingAlgorithm algorithm,
                                const PackingLimits& limits);

struct PackingReport {
  int64_t sequences = 0;
  int64_t tokens = 0;
  int64_t packs = 0;
  int64_t pack_tokens = 0;
  int64_t strategies = 0;

  double sequences_per_pack() const;  // = the expected speed-up over one sequence per row
  double compression() const;         // share of the rows saved: 1 - packs / sequences
  double bound() const;               // no packing holds more sequences per pack: L / mean length
  double efficiency() const;          // share of the packs' tokens that are real
};
PackingReport report_of(const LengthHistogram& histogram, const HistogramPacking& packing);

// Several lines for people: the report's figures and the most frequent strategies.
std::string describe_packing(const LengthHistogram& histogram, const HistogramPacking& packing);

}  // namespace cloze::data

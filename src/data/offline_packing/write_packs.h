// A packing of a data set written as packs, for programs that read Graphcore's: a file for each
// strategy and at most 50,000 packs, strategy_LENGTH_LENGTH_LENGTH_part_K, in the binary form of
// data/records/packed_record.h.
#pragma once

#include <cstdint>
#include <filesystem>

#include "data/dataset.h"
#include "data/offline_packing/histogram_packing.h"
#include "data/records/record_reader.h"

namespace cloze::data {

struct PackFiles {
  std::filesystem::path folder;
  RecordShape shape;  // of a pack
  uint64_t seed = 0;  // which of the sequences of a length come together
};

struct WrittenPacks {
  int64_t files = 0, packs = 0, sequences = 0;
};

// UserError when the folder holds packs already: those of two packings would be read as one.
void check_has_no_packs(const std::filesystem::path& folder);

// `packing` is of the data set's lengths. Each file appears when it is complete. UserError when the
// folder holds packs, or when a pack has more sequences than the form has room for, or when they do
// not fit together.
WrittenPacks write_packs(const Dataset& dataset, const HistogramPacking& packing,
                         const PackFiles& files);

}  // namespace cloze::data

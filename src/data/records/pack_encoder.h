// Samples become a pack in the binary form of packed_record.h, with the slots in the order that
// Graphcore's programs lay them in: masked tokens first, then all others and what is unused, and
// the sequences' first tokens at the very end.
#pragma once

#include <span>
#include <string>

#include "data/records/record_reader.h"
#include "data/sample.h"

namespace cloze::data {

// Of at most kSequencesPerPack samples, no first token of which is masked. UserError, with what to
// raise, when they have more tokens or predictions than a pack of this shape.
std::string encode_pack(std::span<const Sample> samples, const RecordShape& shape);

}  // namespace cloze::data

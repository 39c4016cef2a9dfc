// Makes the records of a text, with streams of random numbers that are named by (seed, duplicate,
// document): each duplicate visits the documents in an order of its own, and the records of some
// million tokens of text are shuffled together.
#pragma once

#include "data/creation/record_output.h"

namespace cloze::data {

// From where `output` is to the last record.
void make_records_in_windows(const RecordOptions& options, const Corpus& corpus,
                             const text::Vocabulary& vocabulary, CreationProgress& progress,
                             RecordOutput& output);

}  // namespace cloze::data

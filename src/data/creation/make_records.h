// Makes the records of a text, in one of two ways (create_records.h). Both start where `output`
// stands and go on to the last record.
#pragma once

#include "data/creation/record_output.h"

namespace cloze::data {

// Makes records with streams of random numbers that are named by (seed, duplicate, document): each
// duplicate visits the documents in an order of its own, and the records of some eight million
// tokens of text (RecordOptions::window_tokens) are shuffled together.
void make_records_in_windows(const RecordOptions& options, const Corpus& corpus,
                             const text::Vocabulary& vocabulary, CreationProgress& progress,
                             RecordOutput& output);

// Makes records as Google's create_pretraining_data.py does: one Mersenne Twister for everything,
// in the order of that script, one thread. All records are shuffled together: they go to a file
// beside the output first. Memory holds 4 bytes per record and 4 per document. UserError for 2^32
// records and more.
void make_records_as_google(const RecordOptions& options, const Corpus& corpus,
                            const text::Vocabulary& vocabulary, CreationProgress& progress,
                            RecordOutput& output);

}  // namespace cloze::data

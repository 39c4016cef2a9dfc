// Makes the records of a text as Google's create_pretraining_data.py does: one Mersenne Twister for
// everything, in the order of that script, one thread. All records are shuffled together: they go
// to a file beside the output first. In memory are 4 bytes a record and 4 a document.
#pragma once

#include "data/creation/record_output.h"

namespace cloze::data {

// From where `output` is to the last record. UserError for 2^32 records and more.
void make_records_as_google(const RecordOptions& options, const Corpus& corpus,
                            const text::Vocabulary& vocabulary, CreationProgress& progress,
                            RecordOutput& output);

}  // namespace cloze::data

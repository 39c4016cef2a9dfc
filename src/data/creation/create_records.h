// Creates pre-training records from plain text: masked, paired, as TFRecord files.
//
// Two ways of drawing random numbers:
//   default   Philox streams named by (seed, duplicate, document): the bytes of the output are the
//             same for any number of threads. Each duplicate visits the documents in a new order;
//             instances are shuffled within windows of some eight million tokens of text
//             (make_records.h). Sentences that are longer than a sequence are cut into parts.
//   google    one Mersenne Twister for everything, in the order of Google's script, one thread:
//             the same records as that script makes (make_records.h).
// Records go to the output files in turn; the files appear when all are complete.
//
// Memory grows neither with the text nor with the duplicates, only with the longest document: the
// tokens of the text, 2 or 4 bytes each and 8 a sentence, and in Google's mode all records, go to
// files beside the output and are removed at the end. After an interruption the same command goes
// on, to the same bytes (resumable_output.h).
//
// Errors: UserError for nonsense sizes, an empty corpus, and an output that other work has begun;
// EnvironmentError when an output cannot be written; Interruption when a signal has asked to stop.
// The algorithm is in pair_instances.h and masking.h.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "data/corpus/creation_progress.h"
#include "data/creation/record_options.h"

namespace cloze::data {

struct RecordCounts {
  int64_t documents = 0;
  int64_t documents_of_one_sentence = 0;  // the second part of their pairs is always a random one
  int64_t sentences = 0;                  // with the parts of those that are longer than a sequence
  int64_t text_tokens = 0;                // of the corpus, once
  int64_t invalid_utf8 = 0;
  int64_t instances = 0;
  int64_t tokens = 0;  // of the instances, padding not counted
  int64_t predictions = 0;
};

// `notice` gets a line on what an interrupted run left to go on from.
RecordCounts create_records(const RecordOptions& options, const text::Tokenizer& tokenizer,
                            CreationProgress& progress,
                            const std::function<void(const std::string&)>& notice);

}  // namespace cloze::data

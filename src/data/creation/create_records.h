// Creates pre-training records from plain text: masked, paired, as TFRecord files.
//
// Two ways of drawing random numbers:
//   default   Philox streams named by (seed, duplicate, document): the bytes of the output are the
//             same for any number of threads. Each duplicate visits the documents in a new order;
//             instances are shuffled within windows of some eight million tokens of text, so that
//             memory does not grow with the number of duplicates.
//             Sentences that are longer than a sequence are cut into parts.
//   google    one Mersenne Twister for everything, in the order of Google's script, one thread:
//             the same records as that script makes. All records are held in memory.
// Records go to the output files in turn; the files appear when all are complete.
//
// Errors: UserError for nonsense sizes and an empty corpus; EnvironmentError when an output cannot
// be written. The algorithm is in pair_instances.h and masking.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "data/corpus/corpus_reader.h"
#include "data/creation/creation_progress.h"
#include "data/records/record_encoder.h"

namespace cloze::data {

struct RecordOptions {
  CorpusOptions input;
  std::vector<std::filesystem::path> output_files;
  RecordLayout layout;
  uint64_t seed = 1984;
  int64_t duplication_factor = 6;
  double masking_probability = 0.15;
  double short_sequence_probability = 0.1;
  int64_t max_samples = -1;  // negative: all
  bool whole_word_masking = false;
  bool google_compatible = false;
};

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

RecordCounts create_records(const RecordOptions& options, const text::Tokenizer& tokenizer,
                            CreationProgress& progress);

}  // namespace cloze::data

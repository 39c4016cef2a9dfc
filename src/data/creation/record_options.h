// Options that say what records are to be made, and how.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "data/corpus/corpus_reader.h"
#include "data/instances/masking.h"
#include "data/records/record_encoder.h"
#include "formats/json.h"

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
  // Tokens of text whose records are in memory together until they are saved; by default they are
  // also shuffled together.
  int64_t window_tokens = 8 << 20;
};

// UserError for nonsense.
void check_record_options(const RecordOptions& options);

MaskingOptions masking_of(const RecordOptions& options);

// The way to read the text for these records.
CorpusOptions corpus_options_of(const RecordOptions& options);

// Everything that decides the records of a text, under the names of the options of `cloze data
// records`.
formats::Json record_identity(const RecordOptions& options, const text::Tokenizer& tokenizer);

}  // namespace cloze::data

// The files that `cloze data records` writes, and how far it is: output files, filled in turn, and
// beside them the tokens of the text and, in Google's mode, the records before they are shuffled.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/corpus/creation_progress.h"
#include "data/corpus/stored_corpus.h"
#include "data/creation/create_records.h"
#include "data/resumable_output.h"

namespace cloze::data {

// A record of an instance, and what the counts need.
struct EncodedRecord {
  std::string bytes;
  int64_t tokens = 0;
  int64_t predictions = 0;
};

// The journal keeps this.
struct RecordState {
  CorpusReader::Position position;
  bool text_is_read = false;
  int64_t passes = 0;  // documents made into records, once for each duplicate
  int64_t windows = 0;
  int64_t made = 0;              // records
  std::vector<uint32_t> random;  // Google's mode: of PythonRandom, after these passes
  RecordCounts counts;           // instances, tokens and predictions: of what is in the output
};

class RecordOutput {
 public:
  // Keeps references. Errors are those of ResumableOutput.
  RecordOutput(const RecordOptions& options, const text::Tokenizer& tokenizer,
               CreationProgress& progress);

  void check_input(const std::string& digest) { output_.check_input(digest); }
  RecordState& state() { return state_; }
  bool was_interrupted() const { return !output_.state().is_null(); }
  bool is_complete() const { return output_.is_complete(); }

  CorpusFiles corpus() { return {output_.scratch(0), output_.scratch(1), output_.scratch(2)}; }
  platform::PartialFile& records() { return output_.scratch(3); }
  platform::PartialFile& places() { return output_.scratch(4); }

  // True when as many records as were asked for are written.
  bool is_full() const;
  void append(const EncodedRecord& record);

  void save();
  void commit();
  void discard() { output_.discard(); }

 private:
  const RecordOptions& options_;
  CreationProgress& progress_;
  ResumableOutput output_;
  RecordState state_;
};

}  // namespace cloze::data

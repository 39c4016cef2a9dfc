// The records of one document, encoded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/creation/creation_progress.h"
#include "data/creation/record_options.h"
#include "data/instances/pair_instances.h"

namespace cloze::data {

// And what the counts need.
struct EncodedRecord {
  std::string bytes;
  int64_t tokens = 0;
  int64_t predictions = 0;
};

// Makes records of documents; thread-safe.
class RecordMaker {
 public:
  // Keeps references to all.
  RecordMaker(const RecordOptions& options, const Corpus& corpus,
              const text::Vocabulary& vocabulary, CreationProgress& progress);

  void append(int64_t document, RandomSource& random, std::vector<EncodedRecord>& records) const;

 private:
  const RecordOptions& options_;
  PairInstances instances_;
  CreationProgress& progress_;
};

}  // namespace cloze::data

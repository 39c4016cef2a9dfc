// A sample world as files: what pre-training reads and what scores it.
//   corpus.txt   one sentence per line, a blank line after each document (the format of Google's
//                create_pretraining_data.py)
//   cloze.jsonl  one held-out item per line: {"answer", "context", "kind", "text"}; see ClozeItem
// Errors: UserError for sizes that make no sense; those of AtomicFile when a file cannot be
// written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace cloze::data {

struct SampleCorpusOptions {
  std::filesystem::path directory;
  uint64_t seed = 42;
  // Documents are written until either bound is reached; at least one must be given.
  std::optional<int64_t> num_documents;
  std::optional<double> megabytes;  // of 10^6 bytes; the last document may go past it
  int64_t num_cloze_items = 500;
};

struct SampleCorpusSize {
  int64_t num_documents = 0;
  int64_t num_sentences = 0;
  int64_t num_bytes = 0;
};

// Throws the error that write_sample_corpus would throw about the size of corpus.txt; writes
// nothing.
void validate(const SampleCorpusOptions& options);
SampleCorpusSize write_sample_corpus(const SampleCorpusOptions& options);

}  // namespace cloze::data

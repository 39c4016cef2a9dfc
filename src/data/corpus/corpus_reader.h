// Corpus reader: text files become a tokenised corpus, on several threads. The corpus is the same
// for any number of threads: files are cut into blocks, and blocks joined in order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "data/corpus/memory_corpus.h"
#include "data/corpus/text_source.h"
#include "data/creation/creation_progress.h"
#include "text/tokenizer.h"

namespace cloze::data {

struct CorpusOptions {
  std::vector<std::filesystem::path> files;
  TextFormat format = TextFormat::kSentences;
  double max_invalid_share = kMaxInvalidShare;  // as text_source.h has it
  // Google's script lets a document run on into the next file unless a blank line ends it.
  bool documents_cross_files = false;
  // Sentences of more tokens than this are kept as several, of an eighth of it each, so that what
  // reads a corpus by sentences reads windows of them; 0: all are kept as they are.
  int64_t longest_sentence = 0;
  int threads = 1;
};

struct CorpusRead {
  MemoryCorpus corpus;
  int64_t invalid_utf8 = 0;  // sequences left out
};

// UserError when no file holds a sentence; DataError that names file, line and column of bad text.
CorpusRead read_corpus(const CorpusOptions& options, const text::Tokenizer& tokenizer,
                       CreationProgress& progress);

}  // namespace cloze::data

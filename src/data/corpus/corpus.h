// Corpus: tokenised documents, each a row of sentences, wherever they are kept. None is empty.
// Reading is thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cloze::data {

class Corpus {
 public:
  virtual ~Corpus() = default;
  virtual int64_t documents() const = 0;
  virtual int64_t sentences_in(int64_t document) const = 0;
  virtual int64_t tokens_in(int64_t document) const = 0;
  // Tokens of the document's sentences [0, sentence).
  virtual int64_t tokens_before(int64_t document, int64_t sentence) const = 0;
  // Appends the ids of the document's tokens [begin, end) to `ids`, in time that depends on their
  // number only.
  virtual void append_tokens(int64_t document, int64_t begin, int64_t end,
                             std::vector<int32_t>& ids) const = 0;

  // Appends the ids of the document's sentences [begin, end) to `ids`.
  void append_ids(int64_t document, int64_t begin, int64_t end, std::vector<int32_t>& ids) const {
    append_tokens(document, tokens_before(document, begin), tokens_before(document, end), ids);
  }

  // The sentence that the document's token is in.
  int64_t sentence_at(int64_t document, int64_t token) const {
    int64_t begin = 0;
    int64_t end = sentences_in(document);
    while (end - begin > 1) {
      const int64_t middle = begin + (end - begin) / 2;
      (tokens_before(document, middle) <= token ? begin : end) = middle;
    }
    return begin;
  }
};

// Takes the sentences of a corpus as they are read. Sentences without tokens and documents without
// sentences leave no trace.
class CorpusSink {
 public:
  virtual ~CorpusSink() = default;
  virtual void append_sentence(std::span<const int32_t> ids) = 0;
  virtual void end_document() = 0;
};

}  // namespace cloze::data

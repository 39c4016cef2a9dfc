// Corpus: tokenised documents, each a row of sentences, wherever they are kept. None is empty.
// Reading is thread-safe.
#pragma once

#include <cstdint>
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
  // Appends the ids of the document's sentences [begin, end) to `ids`.
  virtual void append_ids(int64_t document, int64_t begin, int64_t end,
                          std::vector<int32_t>& ids) const = 0;

  // The first sentence that begins at the document's token number `token` or behind it; the last
  // sentence when none does.
  int64_t sentence_from(int64_t document, int64_t token) const {
    int64_t begin = 0;
    int64_t end = sentences_in(document) - 1;
    while (begin < end) {
      const int64_t middle = begin + (end - begin) / 2;
      if (tokens_before(document, middle) < token) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
  }
};

}  // namespace cloze::data

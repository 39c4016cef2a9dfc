// A corpus in three arrays, compactly: two bytes a token when the vocabulary allows
// it, eight a sentence, eight a document.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/corpus/corpus.h"

namespace cloze::data {

// 2 or 4.
int64_t bytes_per_id(int64_t vocabulary_size);

struct CorpusArrays {
  std::span<const std::byte> ids;  // of all tokens
  int64_t bytes_per_id = 0;
  // Starts of sentences, in tokens, and of documents, in sentences: one more than there are of
  // each.
  std::span<const uint64_t> sentence_starts;
  std::span<const uint64_t> document_starts;
};

class ArrayCorpus : public Corpus {
 public:
  virtual CorpusArrays arrays() const = 0;

  int64_t sentences() const { return std::ssize(arrays().sentence_starts) - 1; }
  int64_t tokens() const { return static_cast<int64_t>(arrays().sentence_starts.back()); }

  int64_t documents() const override { return std::ssize(arrays().document_starts) - 1; }
  int64_t sentences_in(int64_t document) const override;
  int64_t tokens_in(int64_t document) const override;
  int64_t tokens_before(int64_t document, int64_t sentence) const override;
  void append_tokens(int64_t document, int64_t begin, int64_t end,
                     std::vector<int32_t>& ids) const override;
};

// MemoryCorpus: such a corpus in memory.
class MemoryCorpus final : public ArrayCorpus, public CorpusSink {
 public:
  explicit MemoryCorpus(int64_t vocabulary_size) : bytes_per_id_(bytes_per_id(vocabulary_size)) {}

  void append_sentence(std::span<const int32_t> ids) override;
  void end_document() override;

  CorpusArrays arrays() const override;

 private:
  int64_t bytes_per_id_;
  std::vector<uint16_t> narrow_ids_;  // one of the two holds all tokens
  std::vector<int32_t> wide_ids_;
  std::vector<uint64_t> sentence_starts_{0};
  std::vector<uint64_t> document_starts_{0};
};

}  // namespace cloze::data

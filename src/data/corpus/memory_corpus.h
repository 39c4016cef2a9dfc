// MemoryCorpus: a corpus in memory, compactly: two bytes a token when the vocabulary allows it,
// eight bytes a sentence, eight a document.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/corpus/corpus.h"

namespace cloze::data {

class MemoryCorpus final : public Corpus {
 public:
  explicit MemoryCorpus(int64_t vocabulary_size) : narrow_(vocabulary_size <= kNarrowVocabulary) {}

  // Building. Sentences without tokens and documents without sentences leave no trace.
  void append_sentence(std::span<const int32_t> ids);
  void end_document();

  int64_t documents() const override { return std::ssize(document_starts_) - 1; }
  int64_t sentences_in(int64_t document) const override;
  int64_t tokens_in(int64_t document) const override;
  int64_t tokens_before(int64_t document, int64_t sentence) const override;
  void append_tokens(int64_t document, int64_t begin, int64_t end,
                     std::vector<int32_t>& ids) const override;

  int64_t sentences() const { return std::ssize(sentence_starts_) - 1; }
  int64_t tokens() const { return static_cast<int64_t>(sentence_starts_.back()); }

  // All tokens, two or four bytes each.
  std::span<const std::byte> id_bytes() const;
  int64_t bytes_per_id() const { return narrow_ ? sizeof(uint16_t) : sizeof(int32_t); }
  // In tokens, and in sentences: one more than there are sentences, and documents.
  std::span<const uint64_t> sentence_starts() const { return sentence_starts_; }
  std::span<const uint64_t> document_starts() const { return document_starts_; }

 private:
  static constexpr int64_t kNarrowVocabulary = 1 << 16;

  bool narrow_;
  std::vector<uint16_t> narrow_ids_;  // one of the two holds all tokens
  std::vector<int32_t> wide_ids_;
  std::vector<uint64_t> sentence_starts_{0};
  std::vector<uint64_t> document_starts_{0};
};

}  // namespace cloze::data

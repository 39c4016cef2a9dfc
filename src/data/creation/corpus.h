// Corpus: tokenised documents in memory, compactly: two bytes a token when the vocabulary allows
// it, eight bytes a sentence, eight a document.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cloze::data {

class Corpus {
 public:
  explicit Corpus(int64_t vocabulary_size) : narrow_(vocabulary_size <= kNarrowVocabulary) {}

  // Building. Sentences without tokens and documents without sentences leave no trace.
  void append_sentence(std::span<const int32_t> ids);
  void end_document();

  int64_t documents() const { return static_cast<int64_t>(document_starts_.size()) - 1; }
  int64_t sentences() const { return static_cast<int64_t>(sentence_starts_.size()) - 1; }
  int64_t tokens() const { return static_cast<int64_t>(sentence_starts_.back()); }

  int64_t sentences_in(int64_t document) const;
  int64_t tokens_in(int64_t document) const;
  int64_t sentence_length(int64_t document, int64_t sentence) const;
  // Appends the sentence's ids to `ids`.
  void append_ids(int64_t document, int64_t sentence, std::vector<int32_t>& ids) const;

 private:
  static constexpr int64_t kNarrowVocabulary = 1 << 16;
  size_t sentence_index(int64_t document, int64_t sentence) const {
    return static_cast<size_t>(document_starts_[static_cast<size_t>(document)]) +
           static_cast<size_t>(sentence);
  }

  bool narrow_;
  std::vector<uint16_t> narrow_ids_;  // one of the two holds all tokens
  std::vector<int32_t> wide_ids_;
  std::vector<uint64_t> sentence_starts_{0};  // in tokens; one more than there are sentences
  std::vector<uint64_t> document_starts_{0};  // in sentences; one more than there are documents
};

}  // namespace cloze::data

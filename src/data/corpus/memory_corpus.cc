#include "data/corpus/memory_corpus.h"

namespace cloze::data {

void MemoryCorpus::append_sentence(std::span<const int32_t> ids) {
  if (ids.empty()) return;
  if (narrow_) {
    narrow_ids_.insert(narrow_ids_.end(), ids.begin(), ids.end());
  } else {
    wide_ids_.insert(wide_ids_.end(), ids.begin(), ids.end());
  }
  sentence_starts_.push_back(sentence_starts_.back() + ids.size());
}

void MemoryCorpus::end_document() {
  const uint64_t sentences = sentence_starts_.size() - 1;
  if (sentences > document_starts_.back()) document_starts_.push_back(sentences);
}

int64_t MemoryCorpus::sentences_in(int64_t document) const {
  return static_cast<int64_t>(document_starts_[document + 1] - document_starts_[document]);
}

int64_t MemoryCorpus::tokens_in(int64_t document) const {
  return tokens_before(document, sentences_in(document));
}

int64_t MemoryCorpus::tokens_before(int64_t document, int64_t sentence) const {
  const uint64_t first = document_starts_[document];
  return static_cast<int64_t>(sentence_starts_[first + sentence] - sentence_starts_[first]);
}

void MemoryCorpus::append_tokens(int64_t document, int64_t begin, int64_t end,
                                 std::vector<int32_t>& ids) const {
  const auto first = static_cast<int64_t>(sentence_starts_[document_starts_[document]]);
  const int64_t from = first + begin;
  const int64_t to = first + end;
  if (narrow_) {
    ids.insert(ids.end(), narrow_ids_.begin() + from, narrow_ids_.begin() + to);
  } else {
    ids.insert(ids.end(), wide_ids_.begin() + from, wide_ids_.begin() + to);
  }
}

std::span<const std::byte> MemoryCorpus::id_bytes() const {
  return narrow_ ? std::as_bytes(std::span(narrow_ids_)) : std::as_bytes(std::span(wide_ids_));
}

}  // namespace cloze::data

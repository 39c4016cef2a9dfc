#include "data/creation/corpus.h"

namespace cloze::data {

void Corpus::append_sentence(std::span<const int32_t> ids) {
  if (ids.empty()) return;
  if (narrow_) {
    narrow_ids_.insert(narrow_ids_.end(), ids.begin(), ids.end());
  } else {
    wide_ids_.insert(wide_ids_.end(), ids.begin(), ids.end());
  }
  sentence_starts_.push_back(sentence_starts_.back() + ids.size());
}

void Corpus::end_document() {
  const uint64_t sentences = sentence_starts_.size() - 1;
  if (sentences > document_starts_.back()) document_starts_.push_back(sentences);
}

int64_t Corpus::sentences_in(int64_t document) const {
  const size_t d = static_cast<size_t>(document);
  return static_cast<int64_t>(document_starts_[d + 1] - document_starts_[d]);
}

int64_t Corpus::tokens_in(int64_t document) const {
  const size_t d = static_cast<size_t>(document);
  return static_cast<int64_t>(sentence_starts_[document_starts_[d + 1]] -
                              sentence_starts_[document_starts_[d]]);
}

int64_t Corpus::sentence_length(int64_t document, int64_t sentence) const {
  const size_t s = sentence_index(document, sentence);
  return static_cast<int64_t>(sentence_starts_[s + 1] - sentence_starts_[s]);
}

void Corpus::append_ids(int64_t document, int64_t sentence, std::vector<int32_t>& ids) const {
  const size_t s = sentence_index(document, sentence);
  const auto begin = static_cast<int64_t>(sentence_starts_[s]);
  const auto end = static_cast<int64_t>(sentence_starts_[s + 1]);
  if (narrow_) {
    ids.insert(ids.end(), narrow_ids_.begin() + begin, narrow_ids_.begin() + end);
  } else {
    ids.insert(ids.end(), wide_ids_.begin() + begin, wide_ids_.begin() + end);
  }
}

}  // namespace cloze::data

#include "data/corpus/memory_corpus.h"

namespace cloze::data {

void MemoryCorpus::append_sentence(std::span<const int32_t> ids) {
  if (ids.empty()) return;
  if (bytes_per_id_ == sizeof(uint16_t)) {
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

CorpusArrays MemoryCorpus::arrays() const {
  const bool is_narrow = bytes_per_id_ == sizeof(uint16_t);
  return {.ids = is_narrow ? std::as_bytes(std::span(narrow_ids_))
                           : std::as_bytes(std::span(wide_ids_)),
          .bytes_per_id = bytes_per_id_,
          .sentence_starts = sentence_starts_,
          .document_starts = document_starts_};
}

}  // namespace cloze::data

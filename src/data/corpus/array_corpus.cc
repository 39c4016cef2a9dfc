#include "data/corpus/array_corpus.h"

namespace cloze::data {
namespace {

constexpr int64_t kNarrowVocabulary = 1 << 16;

template <typename Id>
void append(std::span<const std::byte> all, int64_t begin, int64_t end, std::vector<int32_t>& ids) {
  const auto* const first = reinterpret_cast<const Id*>(all.data());
  ids.insert(ids.end(), first + begin, first + end);
}

}  // namespace

int64_t bytes_per_id(int64_t vocabulary_size) {
  return vocabulary_size <= kNarrowVocabulary ? sizeof(uint16_t) : sizeof(int32_t);
}

int64_t ArrayCorpus::sentences_in(int64_t document) const {
  const auto starts = arrays().document_starts;
  return static_cast<int64_t>(starts[document + 1] - starts[document]);
}

int64_t ArrayCorpus::tokens_in(int64_t document) const {
  return tokens_before(document, sentences_in(document));
}

int64_t ArrayCorpus::tokens_before(int64_t document, int64_t sentence) const {
  const CorpusArrays all = arrays();
  const uint64_t first = all.document_starts[document];
  return static_cast<int64_t>(all.sentence_starts[first + sentence] - all.sentence_starts[first]);
}

void ArrayCorpus::append_tokens(int64_t document, int64_t begin, int64_t end,
                                std::vector<int32_t>& ids) const {
  const CorpusArrays all = arrays();
  const auto first = static_cast<int64_t>(all.sentence_starts[all.document_starts[document]]);
  all.bytes_per_id == sizeof(uint16_t) ? append<uint16_t>(all.ids, first + begin, first + end, ids)
                                       : append<int32_t>(all.ids, first + begin, first + end, ids);
}

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

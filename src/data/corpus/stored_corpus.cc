#include "data/corpus/stored_corpus.h"

namespace cloze::data {
namespace {

std::span<const uint64_t> starts_in(const platform::MappedFile& file) {
  return {reinterpret_cast<const uint64_t*>(file.bytes().data()),
          file.bytes().size() / sizeof(uint64_t)};
}

template <typename T>
void append_values(std::span<const T> values, platform::PartialFile& file) {
  file.append({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

void append_start(uint64_t start, platform::PartialFile& file) {
  append_values(std::span<const uint64_t>(&start, 1), file);
}

}  // namespace

StoredCorpusWriter::StoredCorpusWriter(const CorpusFiles& files, int64_t vocabulary_size)
    : files_(files), is_narrow_(bytes_per_id(vocabulary_size) == sizeof(uint16_t)) {
  if (files_.document_starts.bytes() == 0) {
    append_start(0, files_.sentence_starts);
    append_start(0, files_.document_starts);
    return;
  }
  const StoredCorpus written(files_, vocabulary_size);
  tokens_ = static_cast<uint64_t>(written.tokens());
  sentences_ = static_cast<uint64_t>(written.sentences());
  documents_ = written.documents();
  document_start_ = written.arrays().document_starts.back();
}

void StoredCorpusWriter::append_sentence(std::span<const int32_t> ids) {
  if (ids.empty()) return;
  if (is_narrow_) {
    narrow_ids_.assign(ids.begin(), ids.end());
    append_values(std::span<const uint16_t>(narrow_ids_), files_.ids);
  } else {
    append_values(ids, files_.ids);
  }
  append_start(tokens_ += ids.size(), files_.sentence_starts);
  ++sentences_;
}

void StoredCorpusWriter::end_document() {
  if (sentences_ == document_start_) return;
  append_start(document_start_ = sentences_, files_.document_starts);
  ++documents_;
}

StoredCorpus::StoredCorpus(const CorpusFiles& files, int64_t vocabulary_size)
    : ids_(files.ids.map()),
      sentence_starts_(files.sentence_starts.map()),
      document_starts_(files.document_starts.map()),
      arrays_{.ids = ids_.bytes(),
              .bytes_per_id = bytes_per_id(vocabulary_size),
              .sentence_starts = starts_in(sentence_starts_),
              .document_starts = starts_in(document_starts_)} {}

}  // namespace cloze::data

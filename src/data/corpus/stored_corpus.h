// A corpus in three files, for text that may not fit in memory: written sentence by sentence, then
// mapped. The files are the arrays of array_corpus.h as they are in memory; they belong to the
// machine and the work that wrote them. Token stores are what lasts (token_store/token_store.h).
#pragma once

#include <cstdint>
#include <vector>

#include "data/corpus/array_corpus.h"
#include "platform/files/file.h"
#include "platform/files/partial_file.h"

namespace cloze::data {

struct CorpusFiles {
  platform::PartialFile& ids;
  platform::PartialFile& sentence_starts;
  platform::PartialFile& document_starts;
};

// Goes on after what the files hold.
class StoredCorpusWriter final : public CorpusSink {
 public:
  StoredCorpusWriter(const CorpusFiles& files, int64_t vocabulary_size);
  void append_sentence(std::span<const int32_t> ids) override;
  void end_document() override;
  int64_t documents() const { return documents_; }

 private:
  CorpusFiles files_;
  bool is_narrow_;
  uint64_t tokens_ = 0;
  uint64_t sentences_ = 0;
  uint64_t document_start_ = 0;  // sentences before the document that is open
  int64_t documents_ = 0;
  std::vector<uint16_t> narrow_ids_;  // of one sentence
};

class StoredCorpus final : public ArrayCorpus {
 public:
  StoredCorpus(const CorpusFiles& files, int64_t vocabulary_size);
  CorpusArrays arrays() const override { return arrays_; }

 private:
  platform::MappedFile ids_;
  platform::MappedFile sentence_starts_;
  platform::MappedFile document_starts_;
  CorpusArrays arrays_;
};

}  // namespace cloze::data

// MemoryCorpus: a corpus in memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/corpus/array_corpus.h"

namespace cloze::data {

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

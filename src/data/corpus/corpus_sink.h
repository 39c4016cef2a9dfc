// Where the sentences of a corpus go as they are read. Sentences without tokens and documents
// without sentences leave no trace.
#pragma once

#include <cstdint>
#include <span>

namespace cloze::data {

class CorpusSink {
 public:
  virtual ~CorpusSink() = default;
  virtual void append_sentence(std::span<const int32_t> ids) = 0;
  virtual void end_document() = 0;
};

}  // namespace cloze::data

// For tests: a corpus as a text, "56/|7/|" for the sentence of ids 5 and 6, and another document.
#pragma once

#include <string>
#include <vector>

#include "data/corpus/corpus.h"

namespace cloze::data {

inline std::string described(const Corpus& corpus) {
  std::string text;
  for (int64_t d = 0; d < corpus.documents(); ++d) {
    for (int64_t s = 0; s < corpus.sentences_in(d); ++s) {
      std::vector<int32_t> ids;
      corpus.append_ids(d, s, s + 1, ids);
      for (int32_t id : ids) text += std::to_string(id);
      text += "/";
    }
    text += "|";
  }
  return text;
}

}  // namespace cloze::data

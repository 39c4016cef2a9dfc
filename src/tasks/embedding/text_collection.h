// Texts with a vector each, and the search among them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "tasks/embedding/vector_file.h"

namespace cloze::tasks {

struct FoundText {
  int64_t index = 0;    // of the text
  double cosine = 0.0;  // of its vector and the query's
};

// Immutable, so that any thread may search.
class TextCollection {
 public:
  // Vectors of any length that is not 0: they are compared by direction. UserError when there is not
  // one for each text.
  TextCollection(std::vector<std::string> texts, Vectors vectors);

  // The texts as read_texts() takes them (embedding_file.h), the vectors as read_vectors() does.
  static TextCollection read(const std::filesystem::path& texts, const std::string& text_field,
                             const std::filesystem::path& vectors);

  int64_t size() const { return vectors_.rows; }
  int64_t dimensions() const { return vectors_.dimensions; }
  const std::string& text(int64_t index) const { return texts_[static_cast<size_t>(index)]; }

  // The `count` texts, or all, whose vectors have the largest cosines with the query's, the largest
  // first; of equal ones the text that comes first. Every text is compared: this is exact, and takes
  // 2 size() dimensions() operations. Sums are in double, in one order whatever the text's place. A
  // query of length 0 has the cosine 0 with all.
  std::vector<FoundText> nearest(std::span<const float> query, int64_t count) const;

 private:
  std::vector<std::string> texts_;
  Vectors vectors_;  // of length 1
};

}  // namespace cloze::tasks

#include "tasks/embedding/text_collection.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "tasks/dot_product.h"
#include "tasks/embedding/embedding_file.h"
#include "tasks/text_embedder.h"

namespace cloze::tasks {

TextCollection::TextCollection(std::vector<std::string> texts, Vectors vectors)
    : texts_(std::move(texts)), vectors_(std::move(vectors)) {
  if (std::ssize(texts_) != vectors_.rows) {
    throw_user_error(
        "there are {} texts and {} vectors; make the vectors of these texts with cloze embed",
        texts_.size(), vectors_.rows);
  }
  const auto width = static_cast<size_t>(vectors_.dimensions);
  for (size_t at = 0; at < vectors_.values.size(); at += width) {
    normalize(std::span(vectors_.values).subspan(at, width));
  }
}

TextCollection TextCollection::read(const std::filesystem::path& texts,
                                    const std::string& text_field,
                                    const std::filesystem::path& vectors) {
  return {read_texts(texts, text_field), read_vectors(vectors)};
}

std::vector<FoundText> TextCollection::nearest(std::span<const float> query, int64_t count) const {
  CLOZE_CHECK(std::ssize(query) == dimensions(), "a query of {} numbers, the texts have {}",
              query.size(), dimensions());
  std::vector<float> direction(query.begin(), query.end());
  normalize(direction);
  std::vector<FoundText> found(static_cast<size_t>(size()));
  for (int64_t i = 0; i < size(); ++i) {
    found[static_cast<size_t>(i)] = {.index = i,
                                     .cosine = dot_product<float>(vectors_.row(i), direction)};
  }
  const auto kept = found.begin() + std::min(count, size());
  std::ranges::partial_sort(found, kept, [](const FoundText& a, const FoundText& b) {
    return a.cosine != b.cosine ? a.cosine > b.cosine : a.index < b.index;
  });
  found.erase(kept, found.end());
  return found;
}

}  // namespace cloze::tasks

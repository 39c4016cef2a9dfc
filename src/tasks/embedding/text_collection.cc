#include "tasks/embedding/text_collection.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "tasks/embedding/embedding_file.h"
#include "tasks/text_embedder.h"

namespace cloze::tasks {
namespace {

// Eight sums side by side, which the processor computes at once.
double product_of(std::span<const float> one, std::span<const float> other) {
  constexpr size_t kSums = 8;
  std::array<double, kSums> sums{};
  size_t at = 0;
  for (; at + kSums <= one.size(); at += kSums) {
    for (size_t i = 0; i < kSums; ++i) {
      sums[i] += static_cast<double>(one[at + i]) * static_cast<double>(other[at + i]);
    }
  }
  double sum = 0.0;
  for (const double part : sums) sum += part;
  for (; at < one.size(); ++at)
    sum += static_cast<double>(one[at]) * static_cast<double>(other[at]);
  return sum;
}

}  // namespace

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
    found[static_cast<size_t>(i)] = {.index = i, .cosine = product_of(vectors_.row(i), direction)};
  }
  const auto kept = found.begin() + std::min(count, size());
  std::ranges::partial_sort(found, kept, [](const FoundText& a, const FoundText& b) {
    return a.cosine != b.cosine ? a.cosine > b.cosine : a.index < b.index;
  });
  found.erase(kept, found.end());
  return found;
}

}  // namespace cloze::tasks

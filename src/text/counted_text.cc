#include "text/counted_text.h"

#include <algorithm>
#include <functional>

namespace cloze::text {

std::vector<CountedText> most_frequent(const std::map<std::string, int64_t>& counts, size_t most) {
  std::vector<CountedText> sorted;
  for (const auto& [text, count] : counts) sorted.push_back({text, count});
  std::ranges::stable_sort(sorted, std::greater(), &CountedText::count);
  sorted.resize(std::min(most, sorted.size()));
  return sorted;
}

}  // namespace cloze::text

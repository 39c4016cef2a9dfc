// A piece of text, and how often it occurs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cloze::text {

struct CountedText {
  std::string text;
  int64_t count = 0;
};

// Returns at most so many, the most frequent first; of equal ones, the first of the map.
std::vector<CountedText> most_frequent(const std::map<std::string, int64_t>& counts, size_t most);

}  // namespace cloze::text

// The progress of record creation. Worker threads write it, and the display reads it. Totals are 0
// until they are known. In resumed work the counts include what was done before.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "data/wikipedia/wikipedia_text.h"

namespace cloze::data {

struct CreationProgress {
  WikipediaProgress dumps;             // read before all else
  std::atomic<int64_t> text_bytes{0};  // tokenised so far
  std::atomic<int64_t> text_bytes_before{0};
  std::atomic<int64_t> total_text_bytes{0};
  std::atomic<int64_t> passes{0};  // documents made into instances, once for each duplicate
  std::atomic<int64_t> passes_before{0};
  std::atomic<int64_t> total_passes{0};
  std::atomic<int64_t> instances{0};
  std::atomic<int64_t> instances_before{0};
  std::atomic<int64_t> written{0};  // of the instances
  // Called, by one thread at a time, with what was found out about the text.
  std::function<void(const std::string&)> notice = [](const std::string&) {};
};

}  // namespace cloze::data

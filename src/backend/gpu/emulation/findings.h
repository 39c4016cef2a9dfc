// The faults of an emulated kernel, each with the line of its source.
#pragma once

#include <fmt/format.h>

#include <set>
#include <source_location>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace cloze::backend::gpu::emulation {

using Place = std::source_location;

enum class FindingKind {
  kRace,           // shared memory: no barrier between two threads
  kUninitialised,  // shared memory: read before it was written
  kMissingWait,    // shared memory: read before its copy was waited for, or a copy never waited for
  kOutOfBounds,    // beyond the tensor, or beyond the shared memory
  kUnaligned,      // several elements at an address that is not a multiple of their bytes
  kUnordered,      // global memory: two threads of a launch, of which one writes
  kDivergence,     // threads that must meet at one line do not
  kEndlessWait,    // a thread waits for others that have ended, or wait elsewhere
};

struct Finding {
  FindingKind kind;
  std::string text;  // "elementwise.cc:52: ..."
};

// The first of each kind at each line.
class Findings {
 public:
  template <typename... Args>
  void add(FindingKind kind, const Place& place, fmt::format_string<Args...> format,
           Args&&... args) {
    if (!places_.emplace(kind, std::string(place.file_name()), place.line()).second) return;
    append(kind, place, fmt::format(format, std::forward<Args>(args)...));
  }
  const std::vector<Finding>& all() const { return all_; }

 private:
  void append(FindingKind kind, const Place& place, const std::string& what);

  std::set<std::tuple<FindingKind, std::string, uint32_t>> places_;
  std::vector<Finding> all_;
};

}  // namespace cloze::backend::gpu::emulation

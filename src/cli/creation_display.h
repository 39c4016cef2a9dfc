// Shows on standard error how far the creation of records has come: a line that redraws itself on a
// terminal, elsewhere a plain line every few seconds.
#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "data/creation/creation_progress.h"

namespace cloze::cli {

// "tokenising 41 % of 104.3 MB, 11.8 MB/s, 5 s left"; "instances 41 %, 41,000 so far, ...".
std::string describe(const data::CreationProgress& progress, double tokenising_seconds,
                     double creating_seconds);

class CreationDisplay {
 public:
  explicit CreationDisplay(const data::CreationProgress& progress);
  CreationDisplay(const CreationDisplay&) = delete;
  CreationDisplay& operator=(const CreationDisplay&) = delete;

 private:
  void run(const std::stop_token& stop);

  const data::CreationProgress& progress_;
  std::jthread thread_;  // last: it must be gone before what it uses
};

}  // namespace cloze::cli

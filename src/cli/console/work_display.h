// Shows the progress of long work on standard error: a line that redraws itself on a terminal,
// elsewhere a plain line every few seconds.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <thread>

namespace cloze::cli {

double percent(int64_t part, int64_t whole);  // 0 of nothing
// "41 % of 104.3 MB, 11.8 MB/s, 5.22 s left". `before` is what an interrupted run did before: the
// seconds do not include it.
std::string describe_bytes(int64_t done, int64_t total, double seconds, int64_t before = 0);
// "5.00 s", "6 min 15 s"; "?" before anything is done.
std::string time_left(int64_t done, int64_t total, double seconds, int64_t before = 0);

class WorkDisplay {
 public:
  // `describe` is given the seconds since the start. It is called from another thread.
  explicit WorkDisplay(std::function<std::string(double seconds)> describe);
  WorkDisplay(const WorkDisplay&) = delete;
  WorkDisplay& operator=(const WorkDisplay&) = delete;

 private:
  void run(const std::stop_token& stop);

  std::function<std::string(double seconds)> describe_;
  std::jthread thread_;  // last: it must be gone before what it uses
};

}  // namespace cloze::cli

// Processes that work on one run, and what they tell each other. Each has a rank, 0 to size - 1.
//
// All ranks call the same functions in the same order; a call returns when its result is there. Of
// each number one rank makes the sum, in the order of the ranks, and gives it to the others: every
// rank gets the same bytes, whatever the timing.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace cloze::comm {

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  // values = the sum of all ranks' values, which are as many on every rank.
  virtual void all_reduce(std::span<float> values) = 0;
  // What each rank has to say, in the order of the ranks.
  virtual std::vector<std::string> all_gather(const std::string& text) = 0;
  // Ends all ranks with this exit code, also those that wait for this one.
  [[noreturn]] virtual void abort(int exit_code) = 0;
};

// The only one there is.
Communicator& alone();

// The part of `count` things that a rank has, [begin, end). Parts differ by one thing at most.
struct Share {
  int64_t begin = 0, end = 0;
};
Share share_of(int64_t count, int rank, int size);

}  // namespace cloze::comm

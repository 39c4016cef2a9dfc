// RandomSource: where the creation of records draws its numbers from. Two exist: PhiloxSource,
// whose streams have names and need no state, and PythonRandom, which repeats Google's script.
#pragma once

#include <cstdint>

#include "base/philox.h"
#include "data/shuffle.h"

namespace cloze::data {

class RandomSource {
 public:
  virtual ~RandomSource() = default;
  virtual double uniform() = 0;                // in [0, 1)
  virtual uint32_t below(uint32_t bound) = 0;  // in [0, bound); bound > 0

  // Draws from [low, high], both included.
  int64_t between(int64_t low, int64_t high) {
    return low + below(static_cast<uint32_t>(high - low + 1));
  }
};

class PhiloxSource final : public RandomSource {
 public:
  PhiloxSource(uint64_t seed, uint64_t stream) : stream_(seed, stream) {}
  double uniform() override { return stream_.uniform(); }
  uint32_t below(uint32_t bound) override { return stream_.below(bound); }

 private:
  PhiloxStream stream_;
};

}  // namespace cloze::data

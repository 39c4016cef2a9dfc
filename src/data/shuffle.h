// Two ways to shuffle: a list in memory, and [0, n) by a Permutation, which is a function. Each
// index is computed by itself in constant time, so any step of a run is reached at once and nothing
// has to be stored.
//
//   A Feistel network over the smallest number of bits that holds n - 1, its round function
//   Philox(seed; half, round, epoch), permutes [0, 2^bits); indices that fall outside [0, n) are
//   sent through again until they are inside ("cycle walking"), less than twice on average.
//
// Source: Black and Rogaway, "Ciphers with Arbitrary Finite Domains", CT-RSA 2002.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace cloze::data {

// Fisher-Yates from the back, the order in which Python's random.shuffle draws.
// `random.below(bound)` is a number in [0, bound).
template <typename T, typename Random>
void shuffle(std::vector<T>& items, Random& random) {
  for (size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], items[random.below(static_cast<uint32_t>(i))]);
  }
}

class Permutation {
 public:
  Permutation(uint64_t size, uint64_t seed, uint64_t epoch);  // size > 0
  uint64_t operator()(uint64_t index) const;                  // index < size

 private:
  uint64_t permute_bits(uint64_t value) const;

  uint64_t size_;
  uint64_t seed_;
  uint64_t epoch_;
  int low_bits_;
  int high_bits_;
};

// The order in which training takes samples: all of [0, size) shuffled, epoch after epoch, each
// shuffled anew.
class ShuffledEpochs {
 public:
  struct Place {
    int64_t index = 0;  // of the sample
    int64_t epoch = 0;
  };
  ShuffledEpochs(int64_t size, uint64_t seed);  // size > 0

  // The n-th of them, from 0. It costs least where those before were asked for in this order.
  Place at(int64_t n);

 private:
  int64_t size_;
  uint64_t seed_;
  int64_t epoch_ = 0;  // of the permutation
  std::optional<Permutation> permutation_;
};

}  // namespace cloze::data

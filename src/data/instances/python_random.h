// PythonRandom: the numbers that Python 3's random.Random(seed) gives, draw for draw, so that
// records can be made exactly as Google's create_pretraining_data.py makes them.
//
//   generator   MT19937, seeded by init_by_array over the seed's 32-bit words, lowest first
//   uniform()   random():  (a * 2^26 + b) / 2^53,  a = 27 high bits, b = 26 high bits
//   below(n)    _randbelow: as many high bits as n has, drawn again while the value is >= n
//   shuffle     from the back, j = below(i + 1)                           (data/shuffle.h)
//
// Sources: Matsumoto and Nishimura, mt19937ar.c, 2002; CPython 3 Lib/random.py.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "data/instances/random_source.h"

namespace cloze::data {

class PythonRandom final : public RandomSource {
 public:
  explicit PythonRandom(uint64_t seed);

  double uniform() override;
  uint32_t below(uint32_t bound) override;
  uint32_t next();  // 32 bits

  // Its position in the sequence of numbers, for another generator to go on from. `state` is what
  // state() gave.
  std::vector<uint32_t> state() const;
  void go_on_at(std::span<const uint32_t> state);

 private:
  static constexpr uint32_t kStateWords = 624;
  void fill_from(uint32_t seed);
  void mix_key(std::span<const uint32_t> key);
  void twist();

  std::array<uint32_t, kStateWords> state_;
  uint32_t used_ = kStateWords;
};

}  // namespace cloze::data

#include "tasks/labelled/held_out.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "base/philox.h"

namespace cloze::tasks {
namespace {

// Rows by class, in each class in random order.
std::vector<size_t> shuffled_by_class(std::span<const int64_t> classes, PhiloxStream& random) {
  std::vector<uint32_t> keys(classes.size());
  for (uint32_t& key : keys) key = random.next();
  std::vector<size_t> order(classes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {},
                    [&](size_t row) { return std::tuple(classes[row], keys[row], row); });
  return order;
}

}  // namespace

// Every (1 / share)-th of the rows in that order, from a random place on: so many of each class.
std::vector<bool> held_out_rows(std::span<const int64_t> classes, double share, uint64_t seed) {
  std::vector<bool> held_out(classes.size());
  PhiloxStream random(seed, 0);
  const std::vector<size_t> order = shuffled_by_class(classes, random);
  double taken = random.uniform();
  for (size_t i = 0; i < order.size(); ++i) {
    const bool is_first_of_class = i == 0 || classes[order[i]] != classes[order[i - 1]];
    taken += share;
    if (is_first_of_class) {
      taken = std::min(taken, 1.0);  // the next row may be due
    } else if (taken >= 1.0) {
      held_out[order[i]] = true;
      taken -= 1.0;
    }
  }
  return held_out;
}

}  // namespace cloze::tasks

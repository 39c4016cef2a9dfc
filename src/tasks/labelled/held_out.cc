#include "tasks/labelled/held_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "base/error.h"
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

void say_held_out(const HeldOut& part, const TaskOutput& output) {
  if (part.held_out == 0) {
    throw_user_error(
        "dev_share {} of the {} {} of {} holds none out; give dev_file, a larger share, "
        "or dev_share 0 to score nothing",
        part.share, part.all, part.what, part.file);
  }
  output.notice(
      fmt::format("held out {} of {} {} to score on", part.held_out, part.all, part.what));
}

FinetuningPhases phases_of_tables(const std::string& train_file, const std::string& dev_file,
                                  double dev_share) {
  const bool trains = !train_file.empty();
  const bool has_dev = !dev_file.empty() || (trains && dev_share > 0.0);
  if (!trains && !has_dev) {
    throw_user_error(
        "there is nothing to do: give train_file, the table to learn from, or dev_file, "
        "one to score");
  }
  return {.training = trains, .evaluation = has_dev, .prediction = false};
}

}  // namespace cloze::tasks

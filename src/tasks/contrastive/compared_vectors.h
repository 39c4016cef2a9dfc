// The vectors of a step as a loss compares them, in double: rows [N K, D], text j of sample i in row
// i K + j; and the gradient by each, to which losses add.
//
// Cosines holds their unit vectors, u = x / max(|x|, 1e-12), and takes gradients by cosines:
//
//   d cos(a, b) / du_a = u_b        dx = (du - u (u . du)) / |x|
//
// Every sum has one order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tasks/dot_product.h"

namespace cloze::tasks {

struct ComparedVectors {
  int64_t texts = 0;              // K, of a sample
  int64_t dimensions = 0;         // D
  std::vector<double> values;     // [N K, D]
  std::span<const float> scores;  // [N]

  int64_t samples() const { return std::ssize(scores); }
  std::span<const double> row(int64_t number) const {
    return std::span(values).subspan(static_cast<size_t>(number * dimensions),
                                     static_cast<size_t>(dimensions));
  }
};

// Divides rows of so many numbers by their lengths, and returns these.
std::vector<double> make_unit(std::span<double> rows, int64_t dimensions);
// Turns the gradient by such unit rows into that by the rows before.
void through_lengths(std::span<const double> units, std::span<const double> lengths,
                     std::span<double> gradient);

class Cosines {
 public:
  explicit Cosines(const ComparedVectors& vectors);

  double of(int64_t one, int64_t other) const { return dot_product(row(one), row(other)); }
  // Adds the gradient of weight * cos(one, other).
  void add(int64_t one, int64_t other, double weight) {
    add_to(one, other, weight);
    add_to(other, one, weight);
  }
  // The half of that by one of the two. Several threads may add, each to rows of its own.
  void add_to(int64_t one, int64_t other, double weight);
  // Adds the gradient by the vectors of all that was added.
  void finish(std::span<double> gradient);

 private:
  std::span<const double> row(int64_t number) const {
    return std::span(units_).subspan(static_cast<size_t>(number * dimensions_),
                                     static_cast<size_t>(dimensions_));
  }

  int64_t dimensions_;
  std::vector<double> units_, lengths_, gradient_;
};

}  // namespace cloze::tasks

#include "tasks/contrastive/compared_vectors.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace cloze::tasks {
namespace {

constexpr double kLeastLength = 1e-12;

}  // namespace

// Eight sums side by side, which a processor adds at once.
double dot(std::span<const double> one, std::span<const double> other) {
  constexpr size_t kSums = 8;
  std::array<double, kSums> sums{};
  size_t i = 0;
  for (; i + kSums <= one.size(); i += kSums) {
    for (size_t j = 0; j < kSums; ++j) sums[j] += one[i + j] * other[i + j];
  }
  for (size_t j = 0; i + j < one.size(); ++j) sums[j] += one[i + j] * other[i + j];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

std::vector<double> make_unit(std::span<double> rows, int64_t dimensions) {
  const auto width = static_cast<size_t>(dimensions);
  std::vector<double> lengths;
  for (; !rows.empty(); rows = rows.subspan(width)) {
    const std::span<double> row = rows.first(width);
    lengths.push_back(std::max(std::sqrt(dot(row, row)), kLeastLength));
    for (double& value : row) value /= lengths.back();
  }
  return lengths;
}

void through_lengths(std::span<const double> units, std::span<const double> lengths,
                     std::span<double> gradient) {
  const size_t width = units.size() / std::max<size_t>(lengths.size(), 1);
  for (size_t i = 0; i < lengths.size(); ++i) {
    const auto unit = units.subspan(i * width, width);
    const auto own = gradient.subspan(i * width, width);
    const double along = dot(unit, own);
    for (size_t j = 0; j < width; ++j) own[j] = (own[j] - along * unit[j]) / lengths[i];
  }
}

Cosines::Cosines(const ComparedVectors& vectors)
    : dimensions_(vectors.dimensions),
      units_(vectors.values),
      lengths_(make_unit(units_, dimensions_)),
      gradient_(units_.size()) {}

void Cosines::add_to(int64_t one, int64_t other, double weight) {
  const std::span<const double> unit = row(other);
  double* const sum = gradient_.data() + one * dimensions_;
  for (size_t i = 0; i < unit.size(); ++i) sum[i] += weight * unit[i];
}

void Cosines::finish(std::span<double> gradient) {
  through_lengths(units_, lengths_, gradient_);
  for (size_t i = 0; i < gradient.size(); ++i) gradient[i] += gradient_[i];
}

}  // namespace cloze::tasks

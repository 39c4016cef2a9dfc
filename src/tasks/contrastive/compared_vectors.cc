#include "tasks/contrastive/compared_vectors.h"

#include <algorithm>
#include <cmath>

#include "tasks/dot_product.h"

namespace cloze::tasks {
namespace {

constexpr double kLeastLength = 1e-12;

}  // namespace

std::vector<double> make_unit(std::span<double> rows, int64_t dimensions) {
  const auto width = static_cast<size_t>(dimensions);
  std::vector<double> lengths;
  for (; !rows.empty(); rows = rows.subspan(width)) {
    const std::span<double> row = rows.first(width);
    lengths.push_back(std::max(std::sqrt(dot_product<double>(row, row)), kLeastLength));
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
    const double along = dot_product<double>(unit, own);
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

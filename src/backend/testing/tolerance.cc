#include "backend/testing/tolerance.h"

#include <algorithm>
#include <cmath>

namespace cloze::backend::testing {
namespace {

constexpr double kSafety = 4.0;
constexpr double kWidestShare = 0.2;      // of the root mean square of the expected values
constexpr double kMostZeros = 0.3;        // of the expected values
constexpr double kRoundoffSafety = 16.0;  // for sums behind one value of f
constexpr double kSmallest = 0x1p-116;
constexpr double kStep = 0x1p-10;  // near the fifth root of the round-off of double

double root_mean_square(std::span<const double> values) {
  double squares = 0.0;
  for (const double value : values) squares += std::isfinite(value) ? value * value : 0.0;
  return std::sqrt(squares / static_cast<double>(std::max<size_t>(values.size(), 1)));
}

// The gap between 0 and the next number, of a type that activations are stored in.
double smallest_step(DType dtype) { return dtype == DType::kF16 ? 0x1p-24 : 0x1p-133; }

}  // namespace

double overflow_threshold(DType dtype) {
  return (dtype == DType::kF16 ? 0x1p16 : 0x1p128) * (1.0 - unit_roundoff(dtype) / 2.0);
}

std::vector<double> scales(std::span<const double> expected, std::span<const double> changes,
                           int64_t columns) {
  std::vector<double> result(expected.size());
  for (size_t i = 0; i < result.size(); ++i) {
    const double magnitude = std::isfinite(expected[i]) ? std::abs(expected[i]) : 0.0;
    result[i] = std::max(magnitude, changes[i]);
  }
  const auto row_size = static_cast<size_t>(columns);
  for (size_t start = 0; start + row_size <= result.size(); start += row_size) {
    const std::span<double> row(result.data() + start, row_size);
    const double average = root_mean_square(row);
    for (double& scale : row) scale = std::max(scale, average);
  }
  return result;
}

std::vector<double> tolerances(const ErrorModel& model, std::span<const double> expected,
                               std::span<const double> scales) {
  const double growth = 1.0 + std::sqrt(static_cast<double>(model.summed_terms));
  const double through = model.through == DType::kF32 ? 0.0 : unit_roundoff(model.through);
  const double relative = kSafety * (through + growth * unit_roundoff(DType::kF32));
  const double floor = model.absolute + kSmallest + smallest_step(model.output) / 2.0 +
                       smallest_step(model.through) / 2.0;
  std::vector<double> result(expected.size());
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = unit_roundoff(model.output) * std::abs(expected[i]) + relative * scales[i] + floor;
  }
  return result;
}

double probe_size() { return 0x1p-28; }

bool is_meaningful(std::span<const double> tolerances, std::span<const double> expected) {
  return root_mean_square(tolerances) <= kWidestShare * root_mean_square(expected);
}

bool has_too_many_zeros(std::span<const double> expected) {
  const auto zeros = static_cast<double>(std::ranges::count(expected, 0.0));
  return zeros > kMostZeros * static_cast<double>(expected.size());
}

double double_tolerance(double magnitude, int64_t operations) {
  return static_cast<double>(operations) * unit_roundoff(DType::kF64) * std::abs(magnitude);
}

double central_difference_step() { return kStep; }

CentralDifference central_difference(std::span<const double, 6> values, double magnitude) {
  const double narrow = (values[3] - values[2]) / (2.0 * kStep);
  const double middle = (values[4] - values[1]) / (4.0 * kStep);
  const double wide = (values[5] - values[0]) / (8.0 * kStep);
  // Each pair of second-order differences gives one of fourth order.
  const double fine = (4.0 * narrow - middle) / 3.0;
  const double coarse = (4.0 * middle - wide) / 3.0;
  const double roundoff = kRoundoffSafety * unit_roundoff(DType::kF64) * magnitude / kStep;
  return {fine, std::abs(fine - coarse) + roundoff};
}

}  // namespace cloze::backend::testing

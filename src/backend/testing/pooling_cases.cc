// Cases of pool_sequences and of normalize_rows, and their gradients.
//
// No result may hang on which of two numbers, equal but for rounding, is the larger: where the
// largest counts, it is so by far, or zeros are, which the probes of a tolerance leave as they are.
#include "ops/pooling.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "backend/testing/case_inputs.h"
#include "backend/testing/kernel_case.h"
#include "backend/testing/kernel_sweep.h"

namespace cloze::backend::testing {
namespace {

using ops::PoolingMode;

struct PooledSizes {
  std::vector<int64_t> lengths;
  int64_t unused_slots = 0, hidden = 1;
  std::string why_zeros = "";

  int64_t sequences() const { return std::ssize(lengths); }
  int64_t slots() const { return std::accumulate(lengths.begin(), lengths.end(), unused_slots); }
};

struct PooledWays {
  std::string name;
  std::vector<PoolingMode> modes;
  std::string why_zeros = "";  // of the gradient
};

std::vector<PooledWays> pooled_ways() {
  const std::string one_row = "one row of a sequence counts";
  return {{"mean", {PoolingMode::kMean}},
          {"weighted mean", {PoolingMode::kWeightedMean}},
          {"largest", {PoolingMode::kMax}, one_row},
          {"borders", {PoolingMode::kFirst, PoolingMode::kLast}, one_row},
          {"all",
           {PoolingMode::kLast, PoolingMode::kMax, PoolingMode::kWeightedMean,
            PoolingMode::kMeanSqrtLength, PoolingMode::kMean, PoolingMode::kFirst}}};
}

// body(rows) for each dimension of each sequence with rows: the places of its numbers in x.
template <typename Body>
void for_each_column(const PooledSizes& sizes, const Body& body) {
  int64_t first = 0;
  for (const int64_t length : sizes.lengths) {
    for (int64_t j = 0; j < sizes.hidden && length > 0; ++j) {
      std::vector<size_t> places;
      for (int64_t t = first; t < first + length; ++t) {
        places.push_back(static_cast<size_t>(t * sizes.hidden + j));
      }
      body(places);
    }
    first += length;
  }
}

// Makes the largest number of each column larger by far.
void raise_largest(Tensor& x, const PooledSizes& sizes) {
  for_each_column(sizes, [&](const std::vector<size_t>& places) {
    const auto largest =
        std::ranges::max_element(places, {}, [&](size_t place) { return x.values[place]; });
    x.values[*largest] += 1.0;
  });
}

// Makes some zeros the largest numbers of each column.
void make_zeros_largest(Tensor& x, const PooledSizes& sizes, Random& random) {
  for_each_column(sizes, [&](const std::vector<size_t>& places) {
    for (const size_t place : places) {
      x.values[place] = random.below(3) == 0 ? 0.0 : -std::abs(x.values[place]) - 0.125;
    }
  });
}

KernelCase pooling_case(const PooledSizes& sizes, const PooledWays& ways, DType dtype) {
  return {
      .name = ways.name,
      .op = &ops::kPoolSequences,
      .attributes = ops::PoolingAttributes{ways.modes},
      .inputs = {{dtype, {sizes.slots(), sizes.hidden}}, {DType::kI32, {sizes.sequences() + 1}}},
      .prepare =
          [sizes](auto& inputs, Random&) {
            using Op = ops::PoolSequences;
            inputs[Op::kSequenceStarts].values = starts_of(sizes.lengths);
            raise_largest(inputs[Op::kX], sizes);
          },
      .summed_terms = std::ranges::max(sizes.lengths),
      .why_zeros = sizes.why_zeros};
}

// `has_equal`: several rows of a sequence have its largest number.
KernelCase pooling_gradient_case(const PooledSizes& sizes, const PooledWays& ways, bool has_equal,
                                 DType dtype) {
  KernelCase one = pooling_case(sizes, ways, dtype);
  one.op = &ops::kPoolSequencesGradient;
  const int64_t pooled = std::ssize(ways.modes) * sizes.hidden;
  one.inputs.insert(one.inputs.begin(), {DType::kF32, {sizes.sequences(), pooled}});
  one.prepare = [sizes, has_equal](auto& inputs, Random& random) {
    using Op = ops::PoolSequencesGradient;
    inputs[Op::kSequenceStarts].values = starts_of(sizes.lengths);
    if (has_equal) return make_zeros_largest(inputs[Op::kX], sizes, random);
    raise_largest(inputs[Op::kX], sizes);
  };
  one.summed_terms = std::ssize(ways.modes);
  if (one.why_zeros.empty()) one.why_zeros = ways.why_zeros;
  if (one.why_zeros.empty() && sizes.unused_slots > 0) one.why_zeros = "unused slots";
  return one;
}

void add_pooling_cases(std::vector<KernelCase>& cases, const PooledSizes& sizes, DType dtype) {
  for (const PooledWays& ways : pooled_ways()) {
    cases.push_back(pooling_case(sizes, ways, dtype));
    cases.push_back(pooling_gradient_case(sizes, ways, false, dtype));
  }
  const PooledWays equal{"equal largest", {PoolingMode::kMax}, "one row of a sequence counts"};
  cases.push_back(pooling_gradient_case(sizes, equal, true, dtype));
}

// Every fifth row from the third on is 0; with `has_short`, every fifth from the fourth on is
// shorter than what rows are divided by.
void shorten_rows(Tensor& x, bool has_short) {
  const int64_t columns = x.type.shape[1];
  for (int64_t r = 2; r < x.type.shape[0]; ++r) {
    if (r % 5 != 2 && (r % 5 != 3 || !has_short)) continue;
    const double factor = r % 5 == 2 ? 0.0 : 1e-14 / static_cast<double>(columns);
    for (int64_t j = 0; j < columns; ++j) x.values[r * columns + j] *= factor;
  }
}

// Adds both operators on rows of this shape. In one column the gradient is a difference of equal
// numbers, which leaves nothing to compare.
void add_row_cases(std::vector<KernelCase>& cases, const std::string& name, const Shape& shape,
                   DType dtype, const std::function<void(Tensor& x)>& prepare) {
  const graph::TensorType x{dtype, shape};
  const auto prepare_input = [&](size_t input) {
    return [=](std::vector<Tensor>& inputs, Random&) { prepare(inputs[input]); };
  };
  cases.push_back({.name = name,
                   .op = &ops::kNormalizeRows,
                   .inputs = {x},
                   .prepare = prepare_input(ops::NormalizeRows::kX),
                   .summed_terms = shape[1]});
  if (shape[1] == 1) return;
  cases.push_back({.name = name,
                   .op = &ops::kNormalizeRowsGradient,
                   .inputs = {{DType::kF32, shape}, x},
                   .prepare = prepare_input(ops::NormalizeRowsGradient::kX),
                   .summed_terms = shape[1]});
}

void add_normal_cases(std::vector<KernelCase>& cases, const Shape& shape, DType dtype) {
  add_row_cases(cases, "any rows", shape, dtype, [](Tensor&) {});
}

// Rows at which a derivative by differences says nothing.
void add_short_cases(std::vector<KernelCase>& cases, const Shape& shape, DType dtype) {
  // 1e-14 is 0 in f16, and dx beyond its range.
  const bool has_short = dtype != DType::kF16;
  add_row_cases(cases, "short rows", shape, dtype,
                [has_short](Tensor& x) { shorten_rows(x, has_short); });
}

}  // namespace

std::vector<KernelCase> pooling_cases(DType dtype) {
  std::vector<KernelCase> cases;
  for (const PooledSizes& sizes : {PooledSizes{{1}, 0, 1},
                                   {{5, 0, 7, 2}, 3, 3},
                                   {{17, 31, 1}, 5, 13},
                                   {{131}, 2, 33},
                                   {{9, 4, 64, 3, 0, 0}, 0, 128, "unused sequences"},
                                   {{0, 0}, 4, 5, "no sequences"}}) {
    add_pooling_cases(cases, sizes, dtype);
  }
  for (const Shape& shape : {Shape{1, 1}, {3, 2}, {7, 13}, {31, 33}, {5, 768}}) {
    add_normal_cases(cases, shape, dtype);
  }
  // More elements than are compared with differences.
  for (const Shape& shape : {Shape{64, 128}, {11, 1031}}) add_short_cases(cases, shape, dtype);
  return cases;
}

std::vector<KernelCase> pooling_sweep(DType dtype, const SweepExtents& extents) {
  std::vector<PooledSizes> sizes;
  for (const int64_t length : extents.up_to(kSweptLength, {16})) {
    sizes.push_back({{1 + length * 37 % 97, length, 0, 3}, length % 4, 1 + length % 8});
  }
  for (const int64_t hidden : extents.up_to(kSweptChannels, {8, 16})) {
    sizes.push_back({{3, 1, 4}, 1, hidden});
  }
  // Enough elements for several threads.
  for (const int64_t count : SweepExtents::around(2 * 16384 / 128, {16384 / 128})) {
    sizes.push_back({std::vector<int64_t>(static_cast<size_t>(count), 2), 1, 64});
  }
  std::vector<Shape> shapes;
  for (const int64_t columns : extents.up_to(kSweptColumns, {16, 32})) {
    shapes.push_back({7, columns});
  }
  for (const int64_t rows : extents.up_to(kSweptRows, {64})) shapes.push_back({rows, 11});
  for (const int64_t rows : SweepExtents::around(2 * 16384 / 64, {16384 / 64})) {
    shapes.push_back({rows, 64});
  }
  SweepCases sweep;
  sweep.add_each(
      sizes, [&](auto& family, const PooledSizes& one) { add_pooling_cases(family, one, dtype); });
  sweep.add_each(shapes, [&](auto& family, const Shape& shape) {
    add_normal_cases(family, shape, dtype);
    add_short_cases(family, shape, dtype);
  });
  return sweep.take();
}

}  // namespace cloze::backend::testing

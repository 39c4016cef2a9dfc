// LAMB and AdamW against a second computation in double, written from the papers' formulas.
#include "ops/optimizer_update.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backend/reference/backend.h"
#include "backend/testing/run_kernel.h"
#include "backend/testing/tolerance.h"

namespace cloze::backend::reference {
namespace {

using testing::apply_in_double;
using testing::floats;
using testing::integers;
using testing::Tensor;

constexpr int64_t kElements = 23;
constexpr int kUpdates = 5;
constexpr double kLearningRate = 0.0625;  // exact in f32
constexpr double kScale = 0.75;
constexpr int64_t kRoundings = 500;  // a generous bound for one element over all updates

struct State {
  std::vector<double> w, m, v;
};

std::vector<double> gradient_of(int update) {
  std::vector<double> g(kElements);
  for (int64_t i = 0; i < kElements; ++i) g[i] = std::sin(1.7 * i + update) - 0.25;
  return floats({kElements}, g).values;
}

double norm(const std::vector<double>& values) {
  double squares = 0.0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}

// You et al., Algorithm 2, with the decay excluded where weight_decay is 0, and Loshchilov and
// Hutter, Algorithm 2, in torch's form. first_moment: the dtype in which m is kept.
void second_opinion(State& state, const ops::MomentAttributes& a, bool is_lamb, int t,
                    DType first_moment = DType::kF64) {
  const std::vector<double> gradient = gradient_of(t);
  std::vector<double> direction(kElements);
  const double c1 = a.use_debiasing ? 1.0 / (1.0 - std::pow(a.beta1, t)) : 1.0;
  const double c2 = a.use_debiasing ? 1.0 / (1.0 - std::pow(a.beta2, t)) : 1.0;
  for (int64_t i = 0; i < kElements; ++i) {
    const double g = gradient[i] * kScale;
    const double m = state.m[i] + (1.0 - a.beta1) * (g - state.m[i]);
    state.m[i] = testing::rounded(first_moment, m * a.first_moment_scale) / a.first_moment_scale;
    state.v[i] += (1.0 - a.beta2) * (g * g - state.v[i]);
    // Kingma and Ba, end of section 2: the rate is corrected, and epsilon stands beside sqrt(v).
    direction[i] = a.debiases_epsilon
                       ? c1 / std::sqrt(c2) * state.m[i] / (a.epsilon + std::sqrt(state.v[i]))
                       : c1 * state.m[i] / (a.epsilon + std::sqrt(c2 * state.v[i]));
  }
  for (int64_t i = 0; i < kElements; ++i) direction[i] += a.weight_decay * state.w[i];
  const double weight_norm = norm(state.w);
  const bool scales = is_lamb && a.adapts && weight_norm > 0.0 && norm(direction) > 0.0;
  const double limited =
      a.max_weight_norm > 0.0 && weight_norm > a.max_weight_norm ? a.max_weight_norm : weight_norm;
  const double ratio = scales ? limited / norm(direction) : 1.0;
  for (int64_t i = 0; i < kElements; ++i) state.w[i] -= kLearningRate * ratio * direction[i];
}

void reference_update(State& state, const ops::MomentAttributes& attributes,
                      const graph::OpDefinition& op, int t) {
  const graph::TensorType type{DType::kF32, {kElements}};
  const auto results = apply_in_double(op, attributes,
                                       {{type, state.w},
                                        {type, state.m},
                                        {type, state.v},
                                        {type, gradient_of(t)},
                                        floats({1}, {kScale}),
                                        floats({1}, {kLearningRate}),
                                        integers({1}, {double(t)}),
                                        floats({1}, {1.0})});
  state = {results[0].values, results[1].values, results[2].values};
}

State start(double size) {
  State state{std::vector<double>(kElements), std::vector<double>(kElements),
              std::vector<double>(kElements)};
  for (int64_t i = 0; i < kElements; ++i) state.w[i] = size * std::cos(0.9 * i);
  return state;
}

void expect_agreement(const ops::MomentAttributes& attributes, double size) {
  for (const bool is_lamb : {true, false}) {
    State ours = start(size);
    State theirs = start(size);
    for (int t = 1; t <= kUpdates; ++t) {
      reference_update(ours, attributes, is_lamb ? ops::kLamb : ops::kAdamW, t);
      second_opinion(theirs, attributes, is_lamb, t);
    }
    EXPECT_NE(ours.w, start(size).w);
    for (int64_t i = 0; i < kElements; ++i) {
      const double bound = testing::double_tolerance(1.0 + std::abs(theirs.w[i]), kRoundings);
      EXPECT_NEAR(ours.w[i], theirs.w[i], bound) << (is_lamb ? "lamb " : "adamw ") << i;
      EXPECT_NEAR(ours.m[i], theirs.m[i], bound);
      EXPECT_NEAR(ours.v[i], theirs.v[i], bound);
    }
  }
}

TEST(OptimizerUpdate, AgreesWithASecondComputation) {
  expect_agreement({}, 1.0);
  expect_agreement({.weight_decay = 0.01}, 1.0);
  expect_agreement({.weight_decay = 0.1, .use_debiasing = false}, 1.0);
  expect_agreement({.adapts = false}, 1.0);
  expect_agreement({.beta1 = 0.8, .beta2 = 0.9, .epsilon = 1e-3, .weight_decay = 0.5}, 3.0);
  expect_agreement({.epsilon = 1e-3, .weight_decay = 0.5, .debiases_epsilon = true}, 1.0);
  expect_agreement({.epsilon = 1e-3, .use_debiasing = false, .debiases_epsilon = true}, 1.0);
  expect_agreement({.weight_decay = 0.01, .max_weight_norm = 0.5}, 3.0);
  expect_agreement({.weight_decay = 0.01}, 0.0);  // ratio 1 while the parameter is zero
}

// The update on stored tensors: m in the dtype, all others in f32.
void stored_update(State& state, const ops::MomentAttributes& attributes,
                   const graph::OpDefinition& op, int t, DType first_moment) {
  const auto tensor = [](DType dtype, const std::vector<double>& values) {
    return Tensor{{dtype, {kElements}}, values};
  };
  std::vector<double> kept = state.m;
  for (double& m : kept) m *= attributes.first_moment_scale;
  const std::vector<Tensor> inputs = {
      tensor(DType::kF32, state.w),        tensor(first_moment, kept), tensor(DType::kF32, state.v),
      tensor(DType::kF32, gradient_of(t)), floats({1}, {kScale}),      floats({1}, {kLearningRate}),
      integers({1}, {double(t)}),          floats({1}, {1.0})};
  KernelRequest request{.op = &op, .attributes = attributes};
  for (const Tensor& input : inputs) request.inputs.push_back(input.type);
  const auto kernel = backend().kernels(op).front().create(request);
  const auto results = testing::run_kernel(*kernel, request, inputs, {}).results;
  state = {results[0].values, results[1].values, results[2].values};
  for (double& m : state.m) m /= attributes.first_moment_scale;
}

// What rounding takes from m is lost to this update and to later ones: m agrees to the last bit,
// the weights to within f32 rounding.
TEST(OptimizerUpdate, AHalfFirstMomentIsReadAsItIsKept) {
  for (const DType half : {DType::kBF16, DType::kF16}) {
    for (const bool is_lamb : {true, false}) {
      const ops::MomentAttributes attributes{
          .weight_decay = 0.01, .first_moment_scale = half == DType::kF16 ? 4096.0 : 1.0};
      State ours = start(1.0);
      ours.w = floats({kElements}, ours.w).values;
      State theirs = ours;
      State unrounded = ours;
      double largest_effect = 0.0;
      for (int t = 1; t <= kUpdates; ++t) {
        stored_update(ours, attributes, is_lamb ? ops::kLamb : ops::kAdamW, t, half);
        second_opinion(theirs, attributes, is_lamb, t, half);
        second_opinion(unrounded, attributes, is_lamb, t);
      }
      EXPECT_EQ(ours.m, theirs.m) << name_of(half);
      for (int64_t i = 0; i < kElements; ++i) {
        const double bound = kUpdates * unit_roundoff(DType::kF32) * (1.0 + std::abs(theirs.w[i]));
        EXPECT_NEAR(ours.w[i], theirs.w[i], 2.0 * bound) << name_of(half);
        largest_effect = std::max(largest_effect, std::abs(unrounded.w[i] - theirs.w[i]) / bound);
      }
      EXPECT_GT(largest_effect, 100.0) << "the bound sees the rounding of m";
    }
  }
}

// With debiasing the first update is g / (|g| + epsilon): every weight moves by the learning rate.
TEST(OptimizerUpdate, FirstAdamWUpdateIsTheLearningRate) {
  State state = start(1.0);
  reference_update(state, {.epsilon = 0.0}, ops::kAdamW, 1);
  for (int64_t i = 0; i < kElements; ++i) {
    const double sign = gradient_of(1)[i] > 0.0 ? 1.0 : -1.0;
    EXPECT_NEAR(state.w[i], start(1.0).w[i] - sign * kLearningRate,
                testing::double_tolerance(1.0, kRoundings));
  }
}

TEST(OptimizerUpdate, ScaleZeroChangesNothing) {
  const Tensor one = floats({1}, {1.0});
  const Tensor nan = floats({1}, {std::numeric_limits<double>::quiet_NaN()});
  for (const graph::OpDefinition* op : {&ops::kLamb, &ops::kAdamW}) {
    const auto results =
        apply_in_double(*op, ops::MomentAttributes{.weight_decay = 0.1},
                        {one, one, one, nan, floats({1}, {0.0}), one, integers({1}, {1.0}), one});
    for (const Tensor& result : results) EXPECT_EQ(result.values[0], 1.0);
  }
}

TEST(OptimizerUpdate, ChecksWhatItWrites) {
  const auto check_after = [](const graph::OpDefinition& op, double gradient, double rate) {
    const Tensor one = floats({1}, {1.0});
    const std::vector<Tensor> inputs = {one,
                                        one,
                                        one,
                                        Tensor{one.type, {gradient}},
                                        one,
                                        Tensor{one.type, {rate}},
                                        integers({1}, {1.0}),
                                        one};
    const auto results = apply_in_double(op, ops::MomentAttributes{}, inputs);
    return results[3].values[0];
  };
  for (const graph::OpDefinition* op : {&ops::kLamb, &ops::kAdamW}) {
    EXPECT_EQ(check_after(*op, 1e100, 1.0), 1.0);
    EXPECT_TRUE(std::isnan(check_after(*op, 1e200, 1.0))) << "v overflows";
    EXPECT_TRUE(std::isnan(check_after(*op, 1.0, std::numeric_limits<double>::infinity()))) << "w";
  }
}

TEST(OptimizerUpdate, NormAndScale) {
  const auto scale = [](double max_norm, double norm, double loss = 1.0, double loss_scale = 1.0) {
    return apply_in_double(ops::kGradientScale, ops::GradientScaleAttributes{max_norm},
                           {floats({1}, {norm}), floats({1}, {loss_scale}), floats({1}, {2.0}),
                            floats({1}, {loss})})[0]
        .values[0];
  };
  EXPECT_EQ(
      apply_in_double(ops::kGlobalNorm, {}, {floats({1}, {3}), floats({2}, {0, 4})})[0].values[0],
      5.0);
  EXPECT_EQ(scale(1.0, 4.0), 0.25);
  EXPECT_EQ(scale(1.0, 0.5), 1.0);
  EXPECT_EQ(scale(0.0, 4.0), 1.0);
  EXPECT_EQ(scale(0.0, 4.0, 1.0, 8.0), 0.125) << "gradients are of the scaled loss";
  EXPECT_EQ(scale(1.0, 4.0, 1.0, 8.0), 0.125) << "the true norm is 1/2";
  EXPECT_EQ(scale(1.0, 32.0, 1.0, 8.0), 0.25 / 8.0) << "the true norm is 4";
  EXPECT_EQ(scale(0.0, std::numeric_limits<double>::infinity()), 0.0);
  EXPECT_EQ(scale(1.0, std::numeric_limits<double>::quiet_NaN()), 0.0);
  EXPECT_EQ(scale(1.0, 0.5, std::numeric_limits<double>::infinity()), 0.0);
  EXPECT_EQ(scale(0.0, 0.5, std::numeric_limits<double>::quiet_NaN()), 0.0);
}

}  // namespace
}  // namespace cloze::backend::reference

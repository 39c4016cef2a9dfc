// The optimisers on the small problem of the TF1 system's own test (graphcore/examples
// nlp/bert/tensorflow1/tests/regression_optimiser.py, hardcoded.py): weights and losses of its 100th
// call, which it reads before that call's update, within its own tolerance of a hundredth.
// It computed in f16 on an IPU; this is double.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "backend/reference/backend.h"
#include "backend/testing/run_kernel.h"
#include "ops/gradient_descent.h"
#include "ops/optimizer_update.h"

namespace cloze::backend::reference {
namespace {

using testing::apply_in_double;
using testing::floats;
using testing::integers;
using testing::Tensor;

constexpr int kUpdates = 99;
constexpr double kRate = 0.05;
constexpr std::array<std::array<double, 3>, 4> kSamples = {
    {{0.52, 1.12, 0.77}, {0.88, -1.08, 0.15}, {0.52, 0.06, -1.30}, {0.74, -2.49, 1.39}}};
constexpr std::array<bool, 4> kLabels = {true, true, false, true};

struct Fit {
  std::vector<double> weights;
  double loss = 0.0;  // of these weights
};

// The loss is the sum over samples of -ln p; for the label true, p is the logistic function of 2
// x.w.
double loss_and_gradient(const std::vector<double>& weights, std::vector<double>& gradient) {
  double loss = 0.0;
  gradient.assign(weights.size(), 0.0);
  for (size_t sample = 0; sample < kSamples.size(); ++sample) {
    const double sign = kLabels[sample] ? 1.0 : -1.0;
    double margin = 0.0;
    for (size_t i = 0; i < weights.size(); ++i) margin += sign * kSamples[sample][i] * weights[i];
    const double miss = std::exp(-2.0 * margin);
    loss += std::log1p(miss);
    for (size_t i = 0; i < weights.size(); ++i) {
      gradient[i] -= 2.0 * sign * kSamples[sample][i] * miss / (1.0 + miss);
    }
  }
  return loss;
}

// The first update has the index first_index. num_moments: how many moments the operator's state
// has.
Fit fit(const graph::OpDefinition& op, const std::any& attributes, size_t num_moments,
        int first_index = 1) {
  std::vector<Tensor> state(1 + num_moments, floats({3}, {0.0, 0.0, 0.0}));
  std::vector<double> gradient;
  for (int update = 0; update < kUpdates; ++update) {
    loss_and_gradient(state[0].values, gradient);
    std::vector<Tensor> inputs = state;
    inputs.push_back({state[0].type, gradient});
    inputs.push_back(floats({1}, {1.0}));
    inputs.push_back({floats({1}, {0.0}).type, {kRate}});  // not rounded to f32
    inputs.push_back(integers({1}, {double(first_index + update)}));
    inputs.push_back(floats({1}, {1.0}));
    const std::vector<Tensor> results = apply_in_double(op, attributes, inputs);
    for (size_t i = 0; i < state.size(); ++i) state[i].values = results[i].values;
  }
  return {state[0].values, loss_and_gradient(state[0].values, gradient)};
}

void expect_weights(const Fit& found, const std::vector<double>& recorded) {
  ASSERT_EQ(found.weights.size(), recorded.size());
  for (size_t i = 0; i < recorded.size(); ++i) {
    EXPECT_NEAR(found.weights[i], recorded[i], 0.01 + 0.01 * std::abs(recorded[i])) << i;
  }
}

TEST(OptimizerRegression, Sgd) {
  const Fit found = fit(ops::kSgd, ops::GradientDescentAttributes{}, 0);
  expect_weights(found, {1.141, -0.319, 1.972});
  EXPECT_LT(found.loss, 0.1);
}

// The original asks for a loss under 0.0005. The loss of the weights it records is 0.00067: in f16
// probabilities near 1 become 1.
TEST(OptimizerRegression, Momentum) {
  const Fit found = fit(ops::kMomentum, ops::GradientDescentAttributes{.momentum = 0.9}, 1);
  expect_weights(found, {2.438, -0.9727, 5.074});
  std::vector<double> gradient;
  EXPECT_NEAR(found.loss, loss_and_gradient({2.438, -0.9727, 5.074}, gradient), 5e-5);
}

// The original's correction multiplies the decay too, and its exponents begin with 2; ours does
// neither (docs/fidelity/options.md, use_debiasing). The tolerance covers both.
TEST(OptimizerRegression, AdamW) {
  ops::MomentAttributes attributes{.weight_decay = 0.01};
  const Fit corrected = fit(ops::kAdamW, attributes, 2);
  expect_weights(corrected, {1.53, -0.2654, 1.966});
  EXPECT_LT(corrected.loss, 0.07);
  attributes.use_debiasing = false;
  const Fit uncorrected = fit(ops::kAdamW, attributes, 2);
  expect_weights(uncorrected, {2.994, -0.4644, 3.877});
  EXPECT_LT(uncorrected.loss, 0.002);
}

// Two versions of the original recorded different weights: the older one's match exponents that
// begin at 1, like ours, the newer one's exponents that begin at 2. Such a small difference is
// visible after 99 updates because LAMB's updates grow with the weights.
TEST(OptimizerRegression, Lamb) {
  const ops::MomentAttributes attributes;
  const Fit from_one = fit(ops::kLamb, attributes, 2);
  expect_weights(from_one, {5.664, -0.835, 7.59});
  EXPECT_LT(from_one.loss, 0.001);
  const Fit from_two = fit(ops::kLamb, attributes, 2, 2);
  expect_weights(from_two, {4.25, -0.499, 5.684});
  EXPECT_LT(from_two.loss, 0.001);
}

}  // namespace
}  // namespace cloze::backend::reference

#include "ops/cross_entropy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backend/testing/run_kernel.h"

namespace cloze::backend::reference {
namespace {

using testing::apply_in_double;
using testing::floats;
using testing::integers;
using testing::Tensor;

TEST(CrossEntropy, ByHand) {
  const ops::CrossEntropyAttributes plain;
  const Tensor half = floats({1}, {0.5});
  const Tensor logits = floats({3, 2}, {0.0, 1.0, 2.0, 2.0, 5.0, 5.0});
  const Tensor labels = integers({3}, {1, 1, -1});
  const auto outputs = apply_in_double(ops::kCrossEntropy, plain, {logits, labels, half});
  EXPECT_DOUBLE_EQ(outputs[0].values[0], 0.5 * (std::log1p(std::exp(-1.0)) + std::log(2.0)));
  EXPECT_DOUBLE_EQ(outputs[1].values[0], 1.0);
  const auto dlogits = apply_in_double(ops::kCrossEntropyGradient, plain,
                                       {floats({1}, {1.0}), logits, labels, half})[0];
  EXPECT_DOUBLE_EQ(dlogits.values[2], 0.25);
  EXPECT_DOUBLE_EQ(dlogits.values[3], -0.25);
  EXPECT_EQ(dlogits.values[4], 0.0);
  EXPECT_EQ(dlogits.values[5], 0.0);
}

// Of torch.nn.CrossEntropyLoss(weight, label_smoothing=...), torch 2, in double.
struct Expected {
  double label_smoothing;
  bool has_weights;
  double loss;
  std::vector<double> gradient;
};

const Expected kOfTorch[] = {
    {0.1,
     false,
     1.5082770753123906,
     {0.067187749161098737, 0.0085176978982320767, 0.027340300063831344, -0.10304574712316211,
      -0.29390465410897121, 0.28147443598042282, -0.0030253188834329986, 0.015455537011981513,
      0.0019532766783612672, 0.077795397794929166, -0.14742367958419014, 0.067675005110899744}},
    {0.0,
     true,
     0.76856731116198806,
     {0.15760921564055388, 0.0351673695267452, 0.074449321872343668, -0.26722590703964266,
      -0.08319251846320988, 0.07560202677750158, 0.0013846994217131304, 0.0062057922639951755,
      0.0067086587032790862, 0.056170911605388577, -0.11245022581577617, 0.04957065550710852}},
    {0.25,
     true,
     1.0144462524042419,
     {0.13185762007819307, 0.008894945363905591, 0.051265382452997728, -0.19201794789509632,
      -0.064182793282555023, 0.10820185308904824, -0.011207004390669687, -0.032812055415823507,
      0.0021963166662843096, 0.042155281516346906, -0.057259957952401921, 0.012908359769770731}}};

TEST(CrossEntropy, EqualsThatOfTorch) {
  const std::vector<double> weights = {0.5, 2.0, 1.25, 4.0};
  for (const Expected& expected : kOfTorch) {
    const double total = expected.has_weights ? 4.0 + 0.5 + 1.25 : 3.0;
    std::vector<Tensor> inputs = {
        floats({3, 4}, {1.0, -0.5, 0.25, 2.0, 0.0, 3.0, -1.0, 0.5, -2.0, 0.125, 0.75, 0.0}),
        integers({3}, {3, 0, 2}), floats({1}, {1.0})};
    if (expected.has_weights) inputs.push_back(floats({4}, weights));
    const ops::CrossEntropyAttributes attributes{expected.label_smoothing};
    const double loss = apply_in_double(ops::kCrossEntropy, attributes, inputs)[0].values[0];
    EXPECT_NEAR(loss / total, expected.loss, 1e-15 * expected.loss);
    inputs.insert(inputs.begin(), floats({1}, {1.0}));
    const auto gradient = apply_in_double(ops::kCrossEntropyGradient, attributes, inputs)[0].values;
    for (size_t i = 0; i < gradient.size(); ++i) {
      EXPECT_NEAR(gradient[i] / total, expected.gradient[i], 1e-15) << i;
    }
  }
}

}  // namespace
}  // namespace cloze::backend::reference

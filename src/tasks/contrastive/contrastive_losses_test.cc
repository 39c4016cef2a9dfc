#include "tasks/contrastive/contrastive_losses.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/error.h"
#include "tasks/contrastive/contrastive_objective.h"

namespace cloze::tasks {
namespace {

// Numbers without a pattern, between -1 and 1.
std::vector<float> numbers(size_t count) {
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(std::sin(12.9898 * static_cast<double>(i + 1) * 7.1)));
  }
  return values;
}

constexpr int64_t kSamples = 4, kDimensions = 11;

struct Step {
  std::vector<float> values;
  std::vector<float> scores{0.2f, 0.9f, 0.2f, 0.5f};
  int64_t texts = 0;

  explicit Step(int64_t texts) : values(numbers(kSamples * texts * kDimensions)), texts(texts) {}
  models::StepVectors vectors() const { return {texts, kDimensions, values, scores}; }
};

// Every loss in every form, compared with differences on both sides of each number.
TEST(ContrastiveLosses, GradientsAreThoseOfTheDifferences) {
  for (const ContrastiveLoss& loss : contrastive_losses()) {
    for (const bool is_other_form : {false, true}) {
      ContrastiveObjective objective{.loss = std::string(loss.name)};
      objective.settings = {.scale = 3.0, .margin = 0.7, .is_cosine = is_other_form};
      if (is_other_form) objective.dimensions = {kDimensions, 5}, objective.weights = {1.0, 0.25};
      Step step(loss.needs == TuplesNeeded::kNegatives ? 4 : 3);
      const models::VectorLoss made = objective.vector_loss(step.texts, kDimensions);
      std::vector<float> gradient(step.values.size()), unused(gradient);
      made.compute(step.vectors(), gradient);
      double squares = 0.0;
      for (size_t i = 0; i < gradient.size(); ++i) {
        constexpr float kStep = 0x1p-9f;
        const float value = step.values[i];
        const auto loss_at = [&](float moved) {
          step.values[i] = moved;
          return made.compute(step.vectors(), unused);
        };
        const double slope = (loss_at(value + kStep) - loss_at(value - kStep)) / (2.0 * kStep);
        step.values[i] = value;
        EXPECT_NEAR(gradient[i], slope, 2e-4) << made.name << " " << i;
        squares += slope * slope;
      }
      EXPECT_GT(squares, 1e-3) << made.name;
    }
  }
}

// Two samples of two dimensions: cosines are 1, 0 and 0.6.
TEST(ContrastiveLosses, AreTheirFormulas) {
  const std::vector<float> values = {1, 0, 2, 0, 0, 3, 3, 4};  // a0, p0; a1, p1
  const std::vector<float> scores = {0.5f, 1.0f};
  std::vector<float> gradient(values.size());
  const auto value_of = [&](const char* name) {
    ContrastiveObjective objective{.loss = name};
    objective.settings.scale = 2.0;
    return objective.vector_loss(2, 2).compute({2, 2, values, scores}, gradient);
  };
  // cos(a0, p0) = 1, cos(a0, p1) = 0.6; cos(a1, p0) = 0, cos(a1, p1) = 0.8
  const double first = std::log(std::exp(2.0) + std::exp(1.2)) - 2.0;
  const double second = std::log(std::exp(0.0) + std::exp(1.6)) - 1.6;
  EXPECT_NEAR(value_of("multiple_negatives"), (first + second) / 2.0, 1e-12);
  EXPECT_NEAR(value_of("cosent"), std::log(1.0 + std::exp(2.0 * (1.0 - 0.8))), 1e-12);
  EXPECT_NEAR(value_of("cosine"), (0.5 * 0.5 + 0.2 * 0.2) / 2.0, 1e-12);
}

TEST(ContrastiveLosses, ThreadsChangeNoBit) {
  const Step step(3);
  std::vector<float> one(step.values.size()), four(one);
  ContrastiveObjective objective;
  const double loss = objective.vector_loss(3, kDimensions).compute(step.vectors(), one);
  objective.settings.threads = 4;
  EXPECT_EQ(objective.vector_loss(3, kDimensions).compute(step.vectors(), four), loss);
  EXPECT_EQ(four, one);
}

TEST(ContrastiveLosses, TripletsCountTheMargin) {
  const std::vector<float> values = {0, 0, 3, 4, 0, 1, 0, 7};  // anchor, positive, two negatives
  const std::vector<float> scores = {0.0f};
  std::vector<float> gradient(values.size());
  ContrastiveObjective objective{.loss = "triplet"};
  objective.settings.margin = 1.0;
  const double loss = objective.vector_loss(4, 2).compute({4, 2, values, scores}, gradient);
  EXPECT_NEAR(loss, ((5.0 - 1.0 + 1.0) + 0.0) / 2.0, 1e-12);
  EXPECT_EQ(gradient[6], 0.0f);  // far enough
}

TEST(ContrastiveLosses, WhatDoesNotFitIsRefused) {
  const auto message_of = [](const ContrastiveObjective& objective) -> std::string {
    try {
      objective.vector_loss(2, 8);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message_of({.loss = "softmax"}),
            "there is no loss softmax; known are multiple_negatives, triplet, cosent, cosine");
  EXPECT_EQ(message_of({.dimensions = {16}}),
            "matryoshka_dims has 16; the model's vectors have 1 to 8");
  EXPECT_EQ(
      message_of({.dimensions = {8, 4}, .weights = {1}}),
      "matryoshka_weights has 1 weights for 2 dimensions of matryoshka_dims; give one for each");
}

}  // namespace
}  // namespace cloze::tasks

#include "optim/optimizer.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "ops/optimizer_update.h"
#include "ops/stochastic_rounding.h"

namespace cloze::optim {
namespace {

using graph::Graph;
using graph::VariableRole;

TEST(Optimizer, IsKnownByItsNames) {
  for (const std::string& name : optimizer_names()) {
    EXPECT_NE(optimizer_named(name).update, nullptr) << name;
  }
  EXPECT_EQ(&optimizer_named("mpadamw"), &optimizer_named("adamw"));
  for (const char* const name : {"", "rmsprop", "LAMB"}) {
    EXPECT_THROW(optimizer_named(name), UserError) << name;
  }
}

TEST(Optimizer, UpdatesEachParameterThatHasAGradient) {
  Graph graph;
  for (const char* name : {"a.weight", "a.bias"}) {
    const bool is_bias = std::string_view(name) == "a.bias";
    const auto parameter = graph.add_parameter(
        name, {4}, graph::Init::zeros(), is_bias ? graph::kVectorTraits : graph::ParameterTraits{});
    graph.add_variable({.name = std::string("gradient.") + name,
                        .type = graph.type(parameter),
                        .role = VariableRole::kGradient,
                        .master = parameter});
  }
  graph.add_parameter("unused", {4}, graph::Init::zeros());
  const auto loss =
      graph.add_variable({.name = "loss", .type = graph::kScalar, .role = VariableRole::kMetric});
  const auto loss_scale = graph.add_input("loss_scale", graph::kScalar);
  add_optimizer(graph, {.name = "lamb", .weight_decay_rate = 0.01},
                {.losses = {loss}, .loss_scale = loss_scale});
  graph.verify();

  int updates = 0;
  for (const graph::Node& node : graph.nodes()) {
    if (node.op == &ops::kGradientScale) {
      EXPECT_EQ(node.inputs[ops::GradientScale::kLossScale], loss_scale);
      EXPECT_EQ(node.inputs.back(), loss);
    }
    if (node.op != &ops::kLamb) continue;
    ++updates;
    const auto& attributes = std::any_cast<const ops::MomentAttributes&>(node.attributes);
    const bool is_bias = graph.info(node.inputs[0]).name == "a.bias";
    EXPECT_EQ(attributes.adapts, !is_bias);
    EXPECT_EQ(attributes.weight_decay, is_bias ? 0.0 : 0.01);
  }
  EXPECT_EQ(updates, 2);
  EXPECT_EQ(graph.variables(VariableRole::kOptimizerState).size(), 4u);
}

TEST(Optimizer, KeepsTheFirstMomentInAHalfAndRoundsWeights) {
  Graph graph;
  const auto parameter = graph.add_parameter("weight", {4}, graph::Init::zeros());
  graph.add_variable({.name = "gradient.weight",
                      .type = graph.type(parameter),
                      .role = VariableRole::kGradient,
                      .master = parameter});
  const auto random_key = graph.add_input("random_key", {DType::kI32, {2}});
  add_optimizer(
      graph, {.first_moment = DType::kF16, .has_bf16_weights = true},
      {.loss_scale = graph.add_input("loss_scale", graph::kScalar), .random_key = random_key});
  graph.verify();
  EXPECT_EQ(graph.type(*graph.find("optimizer.m.weight")).dtype, DType::kF16);
  EXPECT_EQ(graph.type(*graph.find("optimizer.v.weight")).dtype, DType::kF32);
  const graph::Node& update = graph.nodes()[graph.nodes().size() - 2];
  EXPECT_EQ(std::any_cast<const ops::MomentAttributes&>(update.attributes).first_moment_scale,
            kFloat16MomentScale);
  const graph::Node& rounding = graph.nodes().back();
  EXPECT_EQ(rounding.op, &ops::kStochasticRounding);
  EXPECT_EQ(rounding.inputs.front(), parameter);
  EXPECT_EQ(rounding.inputs.back(), random_key);
}

TEST(Optimizer, AdamCorrectsItsMomentsAndHasNoDecay) {
  const auto attributes = [](const OptimizerOptions& options) {
    return std::any_cast<ops::MomentAttributes>(
        optimizer_named("adam").attributes(options, graph::ParameterTraits{}));
  };
  EXPECT_TRUE(attributes({.use_debiasing = false}).use_debiasing);
  EXPECT_THROW(attributes({.weight_decay_rate = 0.01}), UserError);
}

TEST(Optimizer, ClipsAsItsOptionsOrItsTableSay) {
  EXPECT_EQ(OptimizerOptions{}.clipping_norm(), 0.0);
  EXPECT_EQ(OptimizerOptions{.use_mpclip = true}.clipping_norm(), 1.0);
  EXPECT_EQ(OptimizerOptions{.use_nvlamb = true}.clipping_norm(), 1.0);
  EXPECT_EQ(OptimizerOptions{.name = "adamw"}.clipping_norm(), 1.0);
  EXPECT_EQ((OptimizerOptions{.name = "adamw", .max_gradient_norm = 0.0}.clipping_norm()), 0.0);
}

}  // namespace
}  // namespace cloze::optim

#include "optim/optimizer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

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

TEST(Optimizer, ReadsARateForEachDepth) {
  Graph graph;
  for (const char* name :
       {"bert.embeddings.LayerNorm.bias", "bert.encoder.layer.0.output.dense.bias",
        "bert.encoder.layer.0.output.LayerNorm.bias", "classifier.bias"}) {
    const auto parameter = graph.add_parameter(name, {4}, graph::Init::zeros());
    graph.add_variable({.name = std::string("gradient.") + name,
                        .type = graph.type(parameter),
                        .role = VariableRole::kGradient,
                        .master = parameter});
  }
  Graph plain = graph;
  const auto rates_of = [](Graph& on, const DepthRules& depth) {
    std::map<std::string, double> factors;
    const auto inputs = add_optimizer(on, {.name = "adamw", .depth = depth},
                                      {.loss_scale = on.add_input("loss_scale", graph::kScalar)});
    for (const RateInput& input : inputs) factors[input.name] = input.factor;
    on.verify();
    return factors;
  };
  EXPECT_EQ(rates_of(plain, {}), (std::map<std::string, double>{{"learning_rate", 1.0}}));
  EXPECT_EQ(rates_of(graph, {.rate_decay = 0.5, .num_layers = 1}),
            (std::map<std::string, double>{{"learning_rate", 1.0},
                                           {"learning_rate.depth_0", 0.25},
                                           {"learning_rate.depth_1", 0.5}}));
  for (const graph::Node& node : graph.nodes()) {
    if (node.op != &ops::kAdamW) continue;
    const std::string& name = graph.info(node.inputs[ops::OptimizerUpdate::kParameter]).name;
    const auto depth = depth_of(name);
    EXPECT_EQ(graph.info(node.inputs[ops::OptimizerUpdate::kLearningRate]).name,
              depth ? fmt::format("learning_rate.depth_{}", *depth) : "learning_rate");
  }
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

// A layer's self-attention and its LayerNorm, with gradients.
Graph attention_layer() {
  Graph graph;
  const auto add = [&](const std::string& name, const Shape& shape) {
    const auto parameter =
        graph.add_parameter(name, shape, graph::Init::zeros(),
                            shape.rank() == 1 ? graph::kVectorTraits : graph::ParameterTraits{});
    graph.add_variable({.name = "gradient." + name,
                        .type = graph.type(parameter),
                        .role = VariableRole::kGradient,
                        .master = parameter});
  };
  for (const char* projection : {"query", "key", "value"}) {
    add(fmt::format("layer.0.attention.self.{}.weight", projection), {4, 4});
    add(fmt::format("layer.0.attention.self.{}.bias", projection), {4});
  }
  add("layer.0.attention.output.LayerNorm.weight", {4});
  add("layer.0.attention.output.LayerNorm.bias", {4});
  return graph;
}

// By the parameter's name: its operator, whether it decays, whether it adapts, and how many tensors
// share its trust ratio.
struct UpdateOf {
  std::string_view op;
  bool decays = false, adapts = false;
  int64_t tensors = 1;
  bool operator==(const UpdateOf&) const = default;
};

std::map<std::string, UpdateOf> updates_of(const OptimizerOptions& options) {
  Graph graph = attention_layer();
  add_optimizer(graph, options, {.loss_scale = graph.add_input("loss_scale", graph::kScalar)});
  graph.verify();
  std::map<std::string, UpdateOf> updates;
  for (const graph::Node& node : graph.nodes()) {
    const auto* attributes = std::any_cast<ops::MomentAttributes>(&node.attributes);
    if (attributes == nullptr || node.op == &ops::kLambNorms) continue;
    const auto shared = static_cast<int64_t>(node.inputs.size()) - ops::LambMove::kNorms;
    std::string name = graph.info(node.inputs.front()).name;
    updates[name.substr(std::string("layer.0.attention.").size())] = {
        .op = node.op->name,
        .decays = attributes->weight_decay > 0.0,
        .adapts = attributes->adapts,
        .tensors = std::max<int64_t>(shared, 1)};
  }
  return updates;
}

TEST(Optimizer, VectorsAdaptAndScalesDecayWhereAsked) {
  const auto ours = updates_of({.weight_decay_rate = 0.01});
  EXPECT_EQ(ours.at("self.query.weight"), (UpdateOf{"lamb", true, true}));
  EXPECT_EQ(ours.at("self.query.bias"), (UpdateOf{"lamb", false, false}));
  EXPECT_EQ(ours.at("output.LayerNorm.weight"), (UpdateOf{"lamb", false, false}));
  const auto scales = updates_of({.weight_decay_rate = 0.01, .decays_layer_norm_scale = true});
  EXPECT_EQ(scales.at("output.LayerNorm.weight"), (UpdateOf{"lamb", true, false}));
  EXPECT_EQ(scales.at("output.LayerNorm.bias"), (UpdateOf{"lamb", false, false}));
  EXPECT_EQ(scales.at("self.query.bias"), (UpdateOf{"lamb", false, false}));
  const auto vectors = updates_of({.weight_decay_rate = 0.01, .adapts_vectors = true});
  for (const char* name : {"self.query.bias", "output.LayerNorm.weight", "output.LayerNorm.bias"}) {
    EXPECT_EQ(vectors.at(name), (UpdateOf{"lamb", false, true})) << name;
  }
  const auto adamw = updates_of({.name = "adamw", .decays_layer_norm_scale = true});
  EXPECT_EQ(adamw.at("self.key.weight").op, "adamw");
}

TEST(Optimizer, QueryKeyAndValueShareATrustRatioWhereAsked) {
  const auto matrices = updates_of({.weight_decay_rate = 0.01, .joins_qkv = true});
  const auto all =
      updates_of({.weight_decay_rate = 0.01, .adapts_vectors = true, .joins_qkv = true});
  for (const char* projection : {"query", "key", "value"}) {
    const std::string weight = fmt::format("self.{}.weight", projection);
    const std::string bias = fmt::format("self.{}.bias", projection);
    EXPECT_EQ(matrices.at(weight), (UpdateOf{"lamb_move", true, true, 3}));
    EXPECT_EQ(matrices.at(bias), (UpdateOf{"lamb", false, false}));
    EXPECT_EQ(all.at(weight), (UpdateOf{"lamb_move", true, true, 3}));
    EXPECT_EQ(all.at(bias), (UpdateOf{"lamb_move", false, true, 3}));
  }
  EXPECT_EQ(all.at("output.LayerNorm.bias"), (UpdateOf{"lamb", false, true}));
  EXPECT_EQ(updates_of({.name = "adamw", .joins_qkv = true}).at("self.key.weight").op, "adamw");
}

TEST(Optimizer, TensorsThatShareATrustRatioHaveOneOwner) {
  const Graph graph = attention_layer();
  const auto owners = update_owners(graph, {.ranks = 4, .keeps_joined = true});
  // In the order of the gradients: weight and bias of query, key and value.
  EXPECT_EQ(owners[0], owners[2]);
  EXPECT_EQ(owners[0], owners[4]);
  EXPECT_EQ(owners[1], owners[3]);
  EXPECT_EQ(owners[1], owners[5]);
  EXPECT_NE(owners[0], owners[1]);
  const auto apart = update_owners(graph, {.ranks = 4});
  EXPECT_NE(apart[0], apart[2]);
  EXPECT_THROW(update_owners(graph, {.ranks = 5, .keeps_joined = true}), UserError);
  EXPECT_NO_THROW(update_owners(graph, {.ranks = 5}));
}

TEST(Optimizer, AdamCorrectsItsMomentsAndHasNoDecay) {
  const auto attributes = [](const OptimizerOptions& options) {
    return std::any_cast<ops::MomentAttributes>(
        optimizer_named("adam").attributes(options, graph::ValueInfo{.name = "weight"}));
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

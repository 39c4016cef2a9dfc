#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "nn/linear_layer.h"
#include "ops/cross_entropy.h"
#include "ops/elementwise.h"
#include "ops/embedding.h"
#include "ops/gelu.h"
#include "ops/linear.h"
#include "ops/packed_linear.h"
#include "ops/vocabulary_loss.h"
#include "passes/accumulate.h"
#include "passes/differentiate.h"
#include "passes/freeze.h"
#include "passes/fuse.h"
#include "passes/pack_weights.h"
#include "passes/precision.h"

namespace cloze::passes {
namespace {

using graph::Graph;
using graph::Value;
using graph::VariableRole;

int count(const Graph& graph, const graph::OpDefinition& op) {
  return static_cast<int>(std::count_if(graph.nodes().begin(), graph.nodes().end(),
                                        [&](const graph::Node& node) { return node.op == &op; }));
}

// x -> dense -> gelu -> dense with a tied table -> vocabulary loss.
struct SmallModel {
  Graph graph;
  Value loss;
  Value seed;

  SmallModel() {
    const Value x = graph.add_input("x", {DType::kF32, {6, 4}});
    const Value labels = graph.add_input("labels", {DType::kI32, {6}});
    const Value normalizer = graph.add_input("normalizer", {DType::kF32, {1}});
    seed = graph.add_input("seed", {DType::kF32, {1}});
    Value h = nn::linear_layer(graph, "a", x, {.out_features = 8});
    h = ops::gelu(graph, h, ops::GeluForm::kErf);
    h = nn::linear_layer(graph, "b", h, {.out_features = 8});
    const Value table = graph.add_parameter("table", {11, 8}, graph::Init::zeros());
    loss = ops::vocabulary_loss(
               graph, {.x = h, .table = table, .labels = labels, .normalizer = normalizer})
               .loss;
  }
};

TEST(Differentiate, GivesEveryParameterAGradientOfItsType) {
  SmallModel model;
  differentiate(model.graph, {{model.loss, model.seed}});
  model.graph.verify();
  for (const Value parameter : model.graph.variables(VariableRole::kParameter)) {
    const auto gradient = model.graph.find("gradient." + model.graph.info(parameter).name);
    ASSERT_TRUE(gradient.has_value()) << model.graph.info(parameter).name;
    EXPECT_EQ(model.graph.type(*gradient), model.graph.type(parameter));
  }
  // The input needs no gradient, so only the second layer passes one on.
  EXPECT_EQ(count(model.graph, ops::kLinearInputGradient), 1);
}

TEST(Differentiate, AppendsNothingForWhatDependsOnFixedParametersAlone) {
  SmallModel model;
  differentiate(model.graph, {{model.loss, model.seed}},
                {*model.graph.find("a.weight"), *model.graph.find("a.bias")});
  model.graph.verify();
  EXPECT_FALSE(model.graph.find("gradient.a.weight").has_value());
  EXPECT_TRUE(model.graph.find("gradient.b.weight").has_value());
  EXPECT_EQ(count(model.graph, ops::kLinearInputGradient), 0);
  EXPECT_EQ(count(model.graph, ops::kLinearWeightGradient), 1);
}

TEST(Fuse, TakesPairsAndAccumulatesInPlace) {
  SmallModel model;
  differentiate(model.graph, {{model.loss, model.seed}});
  fuse_activations(model.graph);
  fuse_vocabulary_loss(model.graph);
  accumulate_in_place(model.graph);
  model.graph.verify();
  EXPECT_EQ(count(model.graph, ops::kGelu), 0);
  EXPECT_EQ(count(model.graph, ops::kGeluGradient), 1);
  EXPECT_EQ(count(model.graph, ops::kVocabularyLossGradient), 0);
  EXPECT_EQ(count(model.graph, ops::kVocabularyLossWithGradient), 1);
  EXPECT_EQ(count(model.graph, ops::kAccumulate), 0);
}

TEST(Accumulate, LossesOfClassesAddToTheirMetricsThemselves) {
  Graph graph;
  const auto input = [&](const char* name, const graph::TensorType& type) {
    return graph.add_input(name, type);
  };
  const ops::LossOutputs loss =
      ops::cross_entropy(graph, input("logits", {DType::kF32, {6, 2}}),
                         input("labels", {DType::kI32, {6}}), input("normalizer", graph::kScalar));
  std::vector<Value> metrics;
  for (const auto& [name, value] :
       {std::pair{"loss", loss.loss}, std::pair{"correct", loss.correct}}) {
    metrics.push_back(
        graph.add_variable({.name = name, .type = graph::kScalar, .role = VariableRole::kMetric}));
    graph.add_into(ops::kAccumulate, {value}, {}, {{metrics.back(), true}});
  }
  accumulate_in_place(graph);
  graph.verify();
  ASSERT_EQ(graph.nodes().size(), 1u);
  EXPECT_EQ(graph.nodes()[0].outputs, metrics);
  EXPECT_EQ(graph.nodes()[0].accumulates, (std::vector<bool>{true, true}));
}

// No copy of them in bf16 is kept.
TEST(Precision, WeightsAndTheirGradientsStayF32) {
  SmallModel model;
  // Without an embedding the activations start as f32 inputs; make the input bf16 as one would.
  model.graph.info(*model.graph.find("x")).type.dtype = DType::kBF16;
  use_compute_dtype(model.graph, DType::kBF16);
  differentiate(model.graph, {{model.loss, model.seed}});
  model.graph.verify();
  EXPECT_TRUE(model.graph.variables(VariableRole::kComputeCopy).empty());
  for (const Value gradient : model.graph.variables(VariableRole::kGradient)) {
    EXPECT_EQ(model.graph.type(gradient).dtype, DType::kF32);
  }
}

TEST(RoundWeights, ForwardAndBackwardReadOneCopyOfEach) {
  SmallModel model;
  model.graph.info(*model.graph.find("x")).type.dtype = DType::kBF16;
  use_compute_dtype(model.graph, DType::kBF16);
  differentiate(model.graph, {{model.loss, model.seed}});
  fuse_vocabulary_loss(model.graph);
  round_weights(model.graph, DType::kBF16);
  model.graph.verify();
  const auto copies = model.graph.variables(VariableRole::kComputeCopy);
  EXPECT_EQ(copies.size(), 3u);  // the weights of both layers, and the table
  EXPECT_EQ(model.graph.nodes_of(graph::kRefresh).size(), copies.size());
  for (const Value copy : copies) {
    const graph::ValueInfo& info = model.graph.info(copy);
    EXPECT_EQ(info.type, (graph::TensorType{DType::kBF16, model.graph.type(info.master).shape}));
  }
  for (const graph::Node* node : model.graph.nodes_of(graph::kMicroStep)) {
    for (const int weight : node->op->weight_inputs) {
      EXPECT_EQ(model.graph.type(node->inputs[weight]).dtype, DType::kBF16) << node->name();
    }
  }
}

TEST(RoundWeights, LeavesF32Alone) {
  SmallModel model;
  differentiate(model.graph, {{model.loss, model.seed}});
  const std::string before = model.graph.to_string();
  round_weights(model.graph, DType::kBF16);
  EXPECT_EQ(model.graph.to_string(), before);
}

// x -> dense -> gelu -> two products with one weight.
Graph inferring_model() {
  Graph graph;
  const Value x = graph.add_input("x", {DType::kF32, {6, 4}});
  Value h = nn::linear_layer(graph, "a", x, {.out_features = 8});
  h = ops::gelu(graph, h, ops::GeluForm::kErf);
  const Value weight = graph.add_parameter("b", {8, 8}, graph::Init::zeros());
  h = ops::linear(graph, {.x = h, .weight = weight});
  h = ops::linear(graph, {.x = h, .weight = weight});
  graph.mark_output(h, "y");
  fuse_activations(graph);
  pack_weights(graph, {.layout = {.columns = 16}, .dtype = DType::kBF16});
  return graph;
}

TEST(PackWeights, PacksEachWeightOnceAndKeepsActivations) {
  const Graph graph = inferring_model();
  graph.verify();
  EXPECT_EQ(count(graph, ops::kLinear), 0);
  EXPECT_EQ(count(graph, ops::kGelu), 0);
  EXPECT_EQ(count(graph, ops::kPackedLinear), 3);
  EXPECT_EQ(count(graph, ops::kPackWeight), 2);
  EXPECT_EQ(graph.type(*graph.find("packed.b")), (graph::TensorType{DType::kBF16, {1, 8, 16}}));
  const auto& first =
      std::any_cast<const ops::PackedLinearAttributes&>(graph.nodes()[0].attributes);
  EXPECT_EQ(first.activation, ops::GeluForm::kErf);
}

// Of five products of x, the first two and the next two are joined: their shapes are equal, and
// they are adjacent; the last has no bias.
TEST(PackWeights, JoinsProductsThatReadTheSame) {
  Graph graph;
  const Value x = graph.add_input("x", {DType::kF32, {6, 4}});
  std::vector<Value> y;
  for (const char* name : {"a", "b"}) {
    y.push_back(nn::linear_layer(graph, name, x, {.out_features = 8}));
  }
  for (const char* name : {"c", "d"}) {
    y.push_back(nn::linear_layer(graph, name, x, {.out_features = 5}));
  }
  const Value weight = graph.add_parameter("e", {5, 4}, graph::Init::zeros());
  y.push_back(ops::linear(graph, {.x = x, .weight = weight}));
  for (size_t i = 0; i < y.size(); ++i) graph.mark_output(y[i], fmt::format("y{}", i));
  pack_weights(graph, {.layout = {.columns = 16}, .joins_products = true});
  graph.verify();
  ASSERT_EQ(count(graph, ops::kPackedLinear), 3);
  const auto names = [&](const std::vector<Value>& values) {
    std::vector<std::string> names;
    for (const Value value : values) names.push_back(graph.info(value).name);
    return names;
  };
  EXPECT_EQ(
      names(graph.nodes()[0].inputs),
      (std::vector<std::string>{"x", "packed.a.weight", "packed.b.weight", "a.bias", "b.bias"}));
  EXPECT_EQ(graph.nodes()[0].outputs, (std::vector<Value>{y[0], y[1]}));
  EXPECT_EQ(graph.nodes()[1].outputs, (std::vector<Value>{y[2], y[3]}));
  EXPECT_EQ(graph.nodes()[2].outputs, (std::vector<Value>{y[4]}));
}

// Activations are bf16 from the embedding on, and the outputs of the graph are f32.
TEST(PackWeights, OfTheDtypeOfActivations) {
  Graph graph;
  const Value table = graph.add_parameter("table", {10, 4}, graph::Init::zeros());
  const auto ids = [&](const char* name) { return graph.add_input(name, {DType::kI32, {6}}); };
  Value h =
      ops::embedding(graph, {.input_ids = ids("ids"),
                             .token_type_ids = ids("types"),
                             .position_ids = ids("positions"),
                             .word = table,
                             .token_type = table,
                             .position = table,
                             .sequence_starts = graph.add_input("starts", {DType::kI32, {2}})});
  h = nn::linear_layer(graph, "a", h, {.out_features = 8});
  h = ops::gelu(graph, h, ops::GeluForm::kErf);
  const Value inner = h;
  h = nn::linear_layer(graph, "b", h, {.out_features = 2});
  graph.mark_output(h, "y");
  fuse_activations(graph);
  pack_weights(graph, {.layout = {.columns = 64, .depth = 32, .neighbours = 2},
                       .dtype = DType::kBF16,
                       .is_of_activations = true});
  use_compute_dtype(graph, DType::kBF16);
  graph.verify();
  EXPECT_EQ(count(graph, ops::kPackedLinear), 2);
  EXPECT_EQ(graph.type(*graph.find("packed.a.weight")),
            (graph::TensorType{DType::kBF16, {1, 1, 16, 64, 2}}));
  EXPECT_EQ(graph.type(inner).dtype, DType::kBF16);
  EXPECT_EQ(graph.type(*graph.find("y")), (graph::TensorType{DType::kF32, {6, 2}}));
}

TEST(Freeze, LeavesWhatTheMicroStepReads) {
  const Graph graph = frozen(inferring_model());
  EXPECT_EQ(count(graph, ops::kPackedLinear), 3);
  EXPECT_EQ(graph.nodes().size(), 3u);
  std::vector<std::string> names;
  for (const Value value : graph.variables(VariableRole::kParameter)) {
    names.push_back(graph.info(value).name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"packed.a.weight", "a.bias", "packed.b"}));
  EXPECT_TRUE(graph.find("x").has_value());
  EXPECT_TRUE(graph.find("y").has_value());
}

}  // namespace
}  // namespace cloze::passes

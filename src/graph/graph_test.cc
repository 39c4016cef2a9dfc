#include "graph/graph.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/rewriter.h"

namespace cloze::graph {
namespace {

std::vector<TensorType> same_as_first(std::span<const TensorType> inputs, const std::any&) {
  return {inputs[0]};
}
const OpDefinition kCopy{.name = "copy", .inputs = {"x"}, .infer = same_as_first};
const OpDefinition kSum{
    .name = "sum", .inputs = {"x"}, .infer = same_as_first, .accumulable_outputs = {0}};

TEST(Graph, NamesFollowScopes) {
  Graph graph;
  {
    const auto outer = graph.scope("a");
    const auto inner = graph.scope("b");
    graph.add_parameter("weight", {2, 3}, Init::zeros());
  }
  ASSERT_TRUE(graph.find("a.b.weight").has_value());
  EXPECT_EQ(graph.type(*graph.find("a.b.weight")).shape, (Shape{2, 3}));
  EXPECT_THROW(graph.add_input("a.b.weight", {DType::kF32, {1}}), InternalError);
}

TEST(Graph, NodesKnowTheirPlace) {
  Graph graph;
  const Value x = graph.add_input("x", {DType::kF32, {4}});
  {
    const auto model = graph.scope("model");
    const auto layer = graph.layer_scope("layer.7", 7);
    const auto dense = graph.scope("dense");
    graph.add_one(kCopy, {x});
    const auto update = graph.phase_scope(kUpdate);
    graph.add_one(kCopy, {x});
  }
  graph.add_one(kCopy, {x});
  {
    const auto again = graph.scope_of(Node(graph.nodes()[0]));
    graph.add_one(kCopy, {x});
  }
  const std::vector<Node>& nodes = graph.nodes();
  EXPECT_EQ(nodes[0].name(), "model.layer.7.dense.copy");
  EXPECT_EQ(nodes[1].name(), "copy") << "a phase begins outside the modules";
  EXPECT_EQ(nodes[2].name(), "copy");
  EXPECT_EQ(nodes[3].name(), nodes[0].name());
  EXPECT_EQ(nodes[0].layer, 7);
  EXPECT_EQ(nodes[1].layer, -1);
  EXPECT_EQ(nodes[2].layer, -1);
  EXPECT_EQ(nodes[3].layer, 7);
  EXPECT_EQ(graph.phases(), (std::vector<std::string>{"micro_step", "update"}));
  EXPECT_EQ(nodes[1].phase, graph.find_phase(kUpdate));
  EXPECT_EQ(nodes[2].phase, graph.find_phase(kMicroStep));
  EXPECT_FALSE(graph.find_phase(kRefresh));
}

std::string refusal(const OpDefinition& op, size_t inputs) {
  Graph graph;
  const Value x = graph.add_input("x", {DType::kF32, {4}});
  try {
    graph.add_one(op, std::vector<Value>(inputs, x));
  } catch (const InternalError& error) {
    return error.what();
  }
  return "";
}

TEST(Graph, SaysWhichInputsAnOperatorTakes) {
  EXPECT_NE(refusal(kCopy, 0).find("copy: 0 inputs, expected 1: x"), std::string::npos);
  EXPECT_NE(refusal(kCopy, 2).find("copy: 2 inputs, expected 1: x"), std::string::npos);
  const OpDefinition optional{
      .name = "mix", .inputs = {"x", "y"}, .optional_inputs = 1, .infer = same_as_first};
  EXPECT_NE(refusal(optional, 0).find("mix: 0 inputs, expected 1 or more: x, y"),
            std::string::npos);
  EXPECT_EQ(refusal(optional, 1), "");
  EXPECT_EQ(refusal(optional, 2), "");
  EXPECT_NE(refusal(optional, 3), "");
  const OpDefinition repeated{
      .name = "sum", .inputs = {"x"}, .repeats_last_input = true, .infer = same_as_first};
  EXPECT_EQ(refusal(repeated, 3), "");
}

// Why verify() refuses the graph; empty when it does not.
std::string verdict(const Graph& graph) {
  try {
    graph.verify();
  } catch (const InternalError& error) {
    return error.what();
  }
  return "";
}

// The same, with these `accumulates` of the first node.
std::string verdict_with(Graph& graph, std::vector<bool> accumulates) {
  Rewriter rewriter(graph);
  Node node = rewriter.node(0);
  node.accumulates = std::move(accumulates);
  rewriter.replace(0, std::move(node));
  rewriter.finish();
  return verdict(graph);
}

TEST(Graph, VerifyRefusesUseBeforeDefinition) {
  Graph graph;
  const Value x = graph.add_input("x", {DType::kF32, {4}});
  const Value y = graph.add_one(kCopy, {x});
  graph.add_one(kCopy, {y});
  graph.verify();
  Rewriter rewriter(graph);
  const Node first = rewriter.node(0);
  rewriter.replace(0, rewriter.node(1));
  rewriter.replace(1, first);
  rewriter.finish();
  EXPECT_THROW(graph.verify(), InternalError);
}

TEST(Graph, VerifyRefusesWrongTargetType) {
  Graph graph;
  const Value x = graph.add_input("x", {DType::kF32, {4}});
  const Value variable =
      graph.add_variable({.name = "v", .type = {DType::kF32, {5}}, .role = VariableRole::kMetric});
  graph.add_into(kSum, {x}, {}, {{variable, true}});
  EXPECT_NE(verdict(graph).find("sum: the outputs do not have the types"), std::string::npos);
}

// Phases share the memory of their intermediates.
TEST(Graph, VerifyRefusesAnIntermediateOfAnotherPhase) {
  Graph graph;
  const Value x = graph.add_input("x", kScalar);
  const Value v = graph.add_variable({.name = "v", .type = kScalar, .role = VariableRole::kMetric});
  const Value y = graph.add_one(kCopy, {x});
  graph.add_into(kSum, {y}, {}, {{v, true}});
  const auto update = graph.phase_scope(kUpdate);
  graph.add_one(kCopy, {graph.add_one(kCopy, {x})});
  graph.add_one(kCopy, {v});
  EXPECT_EQ(verdict(graph), "");
  graph.add_one(kCopy, {y});
  EXPECT_NE(verdict(graph).find("in phase update, but it lives in phase micro_step"),
            std::string::npos)
      << verdict(graph);
}

TEST(Graph, VerifyRefusesToAddWhereTheOperatorCannot) {
  const auto verdict_of = [](const OpDefinition& op, bool accumulates) {
    Graph graph;
    const Value x = graph.add_input("x", kScalar);
    const Value v =
        graph.add_variable({.name = "v", .type = kScalar, .role = VariableRole::kMetric});
    graph.add_into(op, {x}, {}, {{v, accumulates}});
    return verdict(graph);
  };
  EXPECT_EQ(verdict_of(kCopy, false), "");
  EXPECT_EQ(verdict_of(kSum, true), "");
  EXPECT_NE(verdict_of(kCopy, true).find("copy: output 0 cannot be added to v"), std::string::npos);
}

TEST(Graph, VerifyRefusesToAddToAnIntermediate) {
  Graph graph;
  graph.add_one(kSum, {graph.add_input("x", kScalar)});
  const auto says = [&](std::vector<bool> accumulates, const char* part) {
    return verdict_with(graph, std::move(accumulates)).find(part) != std::string::npos;
  };
  EXPECT_TRUE(says({true}, "sum: output 0 cannot be added to %1"));
  EXPECT_TRUE(says({}, "sum: 1 outputs, of which 0 are said to accumulate or not"));
  EXPECT_EQ(verdict_with(graph, {false}), "");
}

}  // namespace
}  // namespace cloze::graph

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
  graph.add_into(kCopy, {x}, {}, {{variable, true}});
  EXPECT_THROW(graph.verify(), InternalError);
}

}  // namespace
}  // namespace cloze::graph

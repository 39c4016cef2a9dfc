#include "graph/graph.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace cloze::graph {
namespace {

std::vector<TensorType> same_as_first(std::span<const TensorType> inputs, const std::any&) {
  return {inputs[0]};
}
const OpDefinition kCopy{.name = "copy", .infer = same_as_first};

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

TEST(Graph, VerifyRefusesUseBeforeDefinition) {
  Graph graph;
  const Value x = graph.add_input("x", {DType::kF32, {4}});
  const Value y = graph.add_one(kCopy, {x});
  graph.add_one(kCopy, {y});
  graph.verify();
  std::swap(graph.nodes()[0], graph.nodes()[1]);
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

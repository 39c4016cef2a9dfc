#include "graph/copier.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace cloze::graph {
namespace {

std::vector<TensorType> same_as_first(std::span<const TensorType> inputs, const std::any&) {
  return {inputs[0]};
}
const OpDefinition kCopy{
    .name = "copy", .inputs = {"x"}, .infer = same_as_first, .accumulable_outputs = {0}};
const OpDefinition kMix{.name = "mix", .inputs = {"x", "y"}, .infer = same_as_first};

struct Example {
  Example() {
    x = graph.add_input("x", kScalar);
    const auto scope = graph.layer_scope("layer", 3);
    w = graph.add_parameter("w", {1}, Init::zeros());
    dw = graph.add_variable(
        {.name = "dw", .type = kScalar, .role = VariableRole::kGradient, .master = w});
    sum = graph.add_one(kMix, {x, w});
    graph.add_into(kCopy, {sum}, {}, {{dw, true}});
    graph.mark_output(sum, "sum");
  }
  Graph graph;
  Value x, w, dw, sum;
};

TEST(Copier, CopiesNodesWithAllTheyUse) {
  const Example example;
  Copier copier(example.graph);
  for (const Node& node : example.graph.nodes()) copier.copy(node);
  const Graph copy = std::move(copier).finish();
  EXPECT_EQ(copy.to_string(), example.graph.to_string());
  EXPECT_EQ(copy.nodes().front().layer, 3);
  EXPECT_EQ(copy.info(copy.info(*copy.find("dw")).master).name, "layer.w");
  EXPECT_TRUE(copy.find("sum"));
}

TEST(Copier, PutsAnotherValueInPlaceOfOne) {
  const Example example;
  Copier copier(example.graph);
  copier.replace(example.sum, copier.graph().add_input("received", kScalar));
  copier.copy(example.graph.nodes().back());
  const Graph copy = std::move(copier).finish();
  EXPECT_EQ(copy.nodes().size(), 1u);
  EXPECT_FALSE(copy.find("x"));
  EXPECT_EQ(copy.nodes().front().inputs.front(), *copy.find("received"));
}

TEST(Copier, MissesWhatNobodyMakes) {
  const Example example;
  Copier copier(example.graph);
  copier.copy(example.graph.nodes().back());
  EXPECT_THROW(std::move(copier).finish(), InternalError);
}

}  // namespace
}  // namespace cloze::graph

#include "graph/rewriter.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace cloze::graph {
namespace {

std::vector<TensorType> same_as_first(std::span<const TensorType> inputs, const std::any&) {
  return {inputs[0]};
}
const OpDefinition kCopy{.name = "copy", .inputs = {"x"}, .infer = same_as_first};
const OpDefinition kMix{
    .name = "mix", .inputs = {"x", "y"}, .optional_inputs = 1, .infer = same_as_first};

const TensorType kRow{DType::kF32, {4}};

// y = copy(x); z = mix(y, y); w = copy(z)
class RewriterTest : public testing::Test {
 protected:
  Graph graph_;
  Value x_ = graph_.add_input("x", kRow);
  Value y_ = graph_.add_one(kCopy, {x_});
  Value z_ = graph_.add_one(kMix, {y_, y_});
  Value w_ = graph_.add_one(kCopy, {z_});
};

TEST_F(RewriterTest, FindsProducersAndReaders) {
  const Rewriter rewriter(graph_);
  EXPECT_EQ(rewriter.num_nodes(), 3);
  EXPECT_FALSE(rewriter.producer(x_));
  EXPECT_EQ(rewriter.producer(z_), 1);
  EXPECT_EQ(rewriter.readers(y_), (std::vector<NodeId>{1, 1}));
  EXPECT_TRUE(rewriter.readers(w_).empty());
}

TEST_F(RewriterTest, ReplacingChangesTheUses) {
  Rewriter rewriter(graph_);
  Node changed = rewriter.node(2);
  changed.inputs = {y_};
  rewriter.replace(2, changed);
  rewriter.erase(1);
  EXPECT_EQ(rewriter.readers(y_), (std::vector<NodeId>{2}));
  EXPECT_TRUE(rewriter.readers(z_).empty());
  EXPECT_FALSE(rewriter.producer(z_));
  EXPECT_THROW(rewriter.erase(1), InternalError);
  rewriter.finish();
  graph_.verify();
  ASSERT_EQ(graph_.nodes().size(), 2u);
  EXPECT_EQ(graph_.nodes()[1].inputs, (std::vector<Value>{y_}));
}

TEST_F(RewriterTest, InsertedNodesRunWhereTheyWereInserted) {
  Rewriter rewriter(graph_);
  Node again = rewriter.node(1);
  again.outputs = {rewriter.like(z_)};
  Node last = rewriter.node(2);
  last.inputs = again.outputs;
  rewriter.insert_before(2, again);
  rewriter.replace(2, last);
  rewriter.finish();
  graph_.verify();
  ASSERT_EQ(graph_.nodes().size(), 4u);
  EXPECT_EQ(graph_.nodes()[2].op, &kMix);
  EXPECT_EQ(graph_.nodes()[3].inputs, graph_.nodes()[2].outputs);
  EXPECT_EQ(graph_.nodes()[3].outputs, (std::vector<Value>{w_}));
}

TEST_F(RewriterTest, NodesAddedMeanwhileStayAndComeLast) {
  Rewriter rewriter(graph_);
  rewriter.erase(2);
  graph_.add_one(kMix, {z_});
  EXPECT_EQ(rewriter.num_nodes(), 3);
  rewriter.finish();
  graph_.verify();
  ASSERT_EQ(graph_.nodes().size(), 3u);
  EXPECT_EQ(graph_.nodes()[2].op, &kMix);
}

TEST_F(RewriterTest, TypesFollowTheInputs) {
  graph_.info(x_).type.dtype = DType::kBF16;
  EXPECT_THROW(graph_.verify(), InternalError);
  Rewriter rewriter(graph_);
  for (NodeId id = 0; id < rewriter.num_nodes(); ++id) rewriter.infer_types(id);
  rewriter.finish();
  graph_.verify();
  EXPECT_EQ(graph_.type(w_).dtype, DType::kBF16);
}

}  // namespace
}  // namespace cloze::graph

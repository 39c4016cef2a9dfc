#include "passes/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "models/bert_heads.h"
#include "ops/elementwise.h"
#include "passes/accumulate.h"
#include "passes/differentiate.h"
#include "passes/recompute.h"

namespace cloze::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::Value;
using graph::ValueKind;
using graph::VariableRole;

constexpr const char* kWordEmbeddings = "bert.embeddings.word_embeddings.weight";

Graph model(bool is_groupbert) {
  Graph graph;
  models::BertConfig config{.vocab_size = 30,
                            .hidden_size = 16,
                            .num_hidden_layers = 4,
                            .num_attention_heads = 2,
                            .intermediate_size = 24,
                            .max_position_embeddings = 16};
  config.groupbert = is_groupbert;
  config.groupbert_conv_group_size = 8;
  const auto losses = models::bert_for_training(graph, config, {}, {16, 2, 4});
  const Value seed = graph.add_input("loss_gradient", graph::kScalar);
  std::vector<GivenGradient> minimised;
  for (const models::TaskLoss& loss : losses) minimised.push_back({loss.loss, seed});
  differentiate(graph, minimised);
  for (const models::TaskLoss& loss : losses) {
    const Value total = graph.add_variable(
        {.name = loss.name + "_loss", .type = graph::kScalar, .role = VariableRole::kMetric});
    graph.add_into(ops::kAccumulate, {loss.loss}, {}, {{total, true}});
  }
  accumulate_in_place(graph);
  recompute_layers(graph);
  return graph;
}

std::vector<std::string> names_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes()) names.push_back(node.name());
  return names;
}

std::vector<PipelineCut> cuts_of(const Graph& whole, const Stages& stages) {
  std::vector<PipelineCut> cuts;
  for (int rank = 0; rank < stages.num_ranks(); ++rank) {
    cuts.push_back(cut_to_rank(whole, stages, rank));
  }
  return cuts;
}

const std::vector<Stages>& all_stages() {
  static const std::vector<Stages> stages{even_stages(2, 4),
                                          even_stages(3, 4),
                                          even_stages(6, 4),
                                          {{1, 2, 1, 0}, {0, 1, 2, 0}},
                                          {{0, 2, 2, 0}, {0, 0, 1, 1}}};
  return stages;
}

TEST(Pipeline, HasEachNodeInOnePart) {
  for (const bool is_groupbert : {false, true}) {
    const Graph whole = model(is_groupbert);
    std::vector<std::string> expected = names_of(whole);
    std::ranges::sort(expected);
    for (const Stages& stages : all_stages()) {
      std::vector<std::string> names;
      for (const PipelineCut& cut : cuts_of(whole, stages)) {
        for (const std::string& name : names_of(cut.graph)) names.push_back(name);
        EXPECT_EQ(cut.plan.part_ends.back(), std::ssize(cut.graph.nodes()));
        EXPECT_TRUE(std::ranges::is_sorted(cut.plan.part_ends));
      }
      std::ranges::sort(names);
      EXPECT_EQ(names, expected);
    }
  }
}

// Whatever a rank reads, it makes itself, the host writes, or another rank declares as an output.
TEST(Pipeline, LetsNothingCrossThatIsNotDeclared) {
  const Graph whole = model(/*is_groupbert=*/true);
  for (const Stages& stages : all_stages()) {
    const std::vector<PipelineCut> cuts = cuts_of(whole, stages);
    for (size_t rank = 0; rank < cuts.size(); ++rank) {
      const auto& [graph, plan] = cuts[rank];
      std::set<std::string> received;
      for (const Crossing& crossing : plan.crossings) {
        EXPECT_LT(crossing.from, crossing.to);
        const auto from = static_cast<size_t>(plan.part_ranks[static_cast<size_t>(crossing.from)]);
        if (plan.part_ranks[static_cast<size_t>(crossing.to)] != static_cast<int>(rank)) continue;
        received.insert(crossing.name);
        const auto sent = cuts[from].graph.find(crossing.name);
        ASSERT_TRUE(sent) << crossing.name;
        EXPECT_EQ(std::ranges::count(cuts[from].graph.outputs(), *sent), 1);
        EXPECT_EQ(cuts[from].graph.type(*sent), graph.type(*graph.find(crossing.name)));
      }
      for (const Value input : graph.inputs()) {
        const std::string& name = graph.info(input).name;
        EXPECT_TRUE(whole.find(name) || received.contains(name)) << name;
      }
    }
  }
}

TEST(Pipeline, HasTheHiddenStatesAndTheirGradientsCross) {
  const Graph whole = model(/*is_groupbert=*/false);
  const PipelineCut cut = cut_to_rank(whole, even_stages(2, 4), 0);
  EXPECT_EQ(cut.plan.part_ranks, (std::vector<int>{0, 1, 0}));
  ASSERT_EQ(cut.plan.crossings.size(), 2u);
  for (const Crossing& crossing : cut.plan.crossings) {
    EXPECT_EQ(cut.graph.type(*cut.graph.find(crossing.name)).bytes(), 16 * 16 * 4);
  }
}

TEST(Pipeline, HasParametersWhereTheyAreRead) {
  const Graph whole = model(/*is_groupbert=*/false);
  const std::vector<PipelineCut> cuts = cuts_of(whole, even_stages(2, 4));
  std::map<std::string, int> ranks_with;
  std::set<int32_t> numbers;
  for (const auto& [graph, plan] : cuts) {
    for (const Value parameter : graph.variables(VariableRole::kParameter)) {
      ++ranks_with[graph.info(parameter).name];
    }
    EXPECT_EQ(plan.gradient_numbers.size(), graph.variables(VariableRole::kGradient).size());
    for (const int32_t number : plan.gradient_numbers) {
      if (number == kUpdatedElsewhere) continue;
      EXPECT_TRUE(numbers.insert(number).second);
    }
    ASSERT_EQ(plan.shared.size(), 1u);
    EXPECT_EQ(plan.shared.front().name, kWordEmbeddings);
    EXPECT_EQ(plan.shared.front().ranks, (std::vector<int>{0, 1}));
  }
  EXPECT_EQ(ranks_with.size(), whole.variables(VariableRole::kParameter).size());
  EXPECT_EQ(numbers.size(), whole.variables(VariableRole::kGradient).size());
  for (const auto& [name, ranks] : ranks_with) EXPECT_EQ(ranks, name == kWordEmbeddings ? 2 : 1);
  EXPECT_TRUE(cuts.front().graph.find("bert.encoder.layer.1.output.dense.weight"));
  EXPECT_TRUE(cuts.back().graph.find("bert.encoder.layer.2.output.dense.weight"));
}

TEST(Pipeline, SharesLayersOutEvenly) {
  EXPECT_EQ(even_stages(1, 4).layers, (std::vector<int64_t>{4}));
  EXPECT_EQ(even_stages(3, 4).layers, (std::vector<int64_t>{2, 1, 1}));
  EXPECT_EQ(even_stages(5, 4).layers, (std::vector<int64_t>{1, 1, 1, 1, 0}));
  EXPECT_EQ(even_stages(6, 4).layers, (std::vector<int64_t>{0, 1, 1, 1, 1, 0}));
  EXPECT_EQ(even_stages(6, 4).ranks, (std::vector<int>{0, 1, 2, 3, 4, 5}));
  EXPECT_THROW(even_stages(7, 4), InternalError);
}

}  // namespace
}  // namespace cloze::passes

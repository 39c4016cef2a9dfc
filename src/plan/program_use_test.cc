#include "plan/program_use.h"

#include <gtest/gtest.h>

#include "engine/session.h"
#include "ops/elementwise.h"
#include "ops/embedding.h"
#include "plan/lifetimes.h"

namespace cloze::plan {
namespace {

using graph::Graph;
using graph::Value;

constexpr int64_t kRow = 64;  // bytes, as aligned
const graph::TensorType kRowType{DType::kF32, {16}};

// t = x + x outside the layers; u = t + x, v = u + t in layer 0. All are alive while v is made.
Graph three_sums() {
  Graph graph;
  const Value x = graph.add_input("x", kRowType);
  const Value t = graph.add_one(ops::kAdd, {x, x});
  const auto layer = graph.layer_scope("layer", 0);
  const Value u = graph.add_one(ops::kAdd, {t, x});
  graph.mark_output(graph.add_one(ops::kAdd, {u, t}), "v");
  return graph;
}

TEST(Lifetimes, EndWithTheLastReader) {
  const Graph graph = three_sums();
  const auto lives = lifetimes_of(graph, {0});
  ASSERT_EQ(lives.size(), 4u);
  EXPECT_FALSE(lives[0].has_value());  // an input
  EXPECT_EQ(lives[1]->first, 0);
  EXPECT_EQ(lives[1]->last, 2);
  EXPECT_EQ(lives[2]->first, 1);
  EXPECT_EQ(lives[2]->last, 2);
  EXPECT_EQ(lives[3]->first, 2);
}

TEST(ProgramUse, SumsWhatIsAliveByLayer) {
  const Program program = engine::compile(three_sums(), {.target = {.threads = 1}});
  const ProgramUse use = use_of(program);
  ASSERT_EQ(use.launches.size(), 3u);
  EXPECT_EQ(use.launches[0].activation_bytes, (std::vector<int64_t>{kRow, 0}));
  EXPECT_EQ(use.launches[1].activation_bytes, (std::vector<int64_t>{kRow, kRow}));
  EXPECT_EQ(use.launches[2].activation_bytes, (std::vector<int64_t>{kRow, 2 * kRow}));
  EXPECT_EQ(use.peak, 2u);
  EXPECT_EQ(use.launches[2].temporary_bytes(), 3 * kRow);
  EXPECT_EQ(use.alive_at_peak, (std::vector<Value>{{1}, {2}, {3}}));
  EXPECT_EQ(use.always_bytes, kRow);  // the input
  EXPECT_EQ(program.bytes_of(Arena::kActivations), 3 * kRow);
}

TEST(ProgramUse, CountsWhatLaunchesReadAndWrite) {
  const Program program = engine::compile(three_sums(), {.target = {.threads = 1}});
  for (const LaunchUse& launch : use_of(program).launches) {
    EXPECT_EQ(launch.bytes_read, 2 * kRow);
    EXPECT_EQ(launch.bytes_written, kRow);
    EXPECT_EQ(launch.launch->op, launch.node->op);
  }
}

TEST(ProgramUse, WhatIsAddedToIsReadAndWritten) {
  Graph graph;
  const Value x = graph.add_input("x", graph::kScalar);
  const Value sum = graph.add_variable(
      {.name = "sum", .type = graph::kScalar, .role = graph::VariableRole::kMetric});
  graph.add_into(ops::kAccumulate, {x}, {}, {{sum, true}});
  const Program program = engine::compile(std::move(graph), {.target = {.threads = 1}});
  const LaunchUse launch = use_of(program).launches.at(0);
  EXPECT_EQ(launch.bytes_read, 8);
  EXPECT_EQ(launch.bytes_written, 4);
  EXPECT_EQ(launch.activation_bytes, std::vector<int64_t>{0});
}

// Two rows of sixteen columns of tables, which are f32 whatever the rows become.
constexpr DType kRowDtypes[] = {DType::kF32, DType::kBF16};
constexpr int64_t kIdBytes = 4 * 2 * 4;  // of three kinds of ids, and where sequences start

std::vector<Value> id_inputs(Graph& graph) {
  std::vector<Value> ids;
  for (const char* name : {"ids", "types", "positions", "starts"}) {
    ids.push_back(graph.add_input(name, {DType::kI32, {2}}));
  }
  return ids;
}

TEST(ProgramUse, OfATableOnlyRowsAreRead) {
  for (const DType dtype : kRowDtypes) {
    Graph graph;
    const std::vector<Value> ids = id_inputs(graph);
    const auto table = [&](const char* name, int64_t rows) {
      return graph.add_input(name, {DType::kF32, {rows, 16}});
    };
    const std::vector<Value> inputs{
        ids[0], ids[1], ids[2], table("word", 1000), table("token_type", 2), table("position", 8),
        ids[3]};
    graph.mark_output(graph.add_one(ops::kEmbedding, inputs, ops::EmbeddingAttributes{dtype}), "y");
    const Program program = engine::compile(std::move(graph), {.target = {.threads = 1}});
    const LaunchUse launch = use_of(program).launches.at(0);
    EXPECT_EQ(launch.bytes_written, 2 * 16 * bytes_of(dtype));
    EXPECT_EQ(launch.bytes_read, 3 * 2 * kRow + kIdBytes);
  }
}

TEST(ProgramUse, ToATableOnlyRowsAreAdded) {
  for (const DType dtype : kRowDtypes) {
    Graph graph;
    std::vector<Value> inputs{graph.add_input("dy", {dtype, {2, 16}})};
    for (const Value ids : id_inputs(graph)) inputs.push_back(ids);
    std::vector<graph::Target> targets;
    for (const auto& [name, rows] :
         {std::pair{"dword", 1000}, std::pair{"dtoken_type", 2}, std::pair{"dposition", 8}}) {
      targets.push_back({graph.add_variable({.name = name,
                                             .type = {DType::kF32, {rows, 16}},
                                             .role = graph::VariableRole::kMetric}),
                         /*accumulate=*/true});
    }
    graph.add_into(ops::kEmbeddingGradient, inputs, ops::EmbeddingGradientAttributes{1000, 2, 8},
                   targets);
    const Program program = engine::compile(std::move(graph), {.target = {.threads = 1}});
    const LaunchUse launch = use_of(program).launches.at(0);
    EXPECT_EQ(launch.bytes_written, 3 * 2 * kRow);
    EXPECT_EQ(launch.bytes_read, 2 * 16 * bytes_of(dtype) + kIdBytes + launch.bytes_written);
  }
}

}  // namespace
}  // namespace cloze::plan

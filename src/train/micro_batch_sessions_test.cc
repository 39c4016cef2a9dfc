#include "train/micro_batch_sessions.h"

#include <gtest/gtest.h>

#include <vector>

#include "engine/devices.h"
#include "ops/elementwise.h"

namespace cloze::train {
namespace {

constexpr data::MicroBatchCapacity kFull{.tokens = 43, .sequences = 5, .predictions = 9};
const engine::CompileOptions kCompile{.num_threads = 1};

// "sum" += tokens and predictions, each of their slots.
graph::Graph sums_of(const data::MicroBatchCapacity& capacity) {
  graph::Graph graph;
  for (const auto& [name, slots] :
       {std::pair{"tokens", capacity.tokens}, std::pair{"predictions", capacity.predictions}}) {
    const graph::TensorType type{DType::kF32, {slots}};
    const auto input = graph.add_input(name, type);
    graph.mark_output(graph.add_one(ops::kAdd, {input, input}), std::string("twice.") + name);
  }
  const auto metric = graph.add_variable(
      {.name = "sum", .type = graph::kScalar, .role = graph::VariableRole::kMetric});
  const auto addend = graph.add_input("addend", graph::kScalar);
  graph.add_into(ops::kAccumulate, {addend}, {}, {{metric, true}});
  return graph;
}

int64_t slots_in(engine::Session& session, const char* input) {
  return session.graph().type(session.value(input)).shape.elements();
}

data::MicroBatch batch_of(int64_t tokens, int64_t predictions) {
  data::MicroBatch batch;
  batch.num_tokens = tokens;
  batch.num_sequences = 1;
  batch.num_predictions = predictions;
  return batch;
}

class MicroBatchSessionsTest : public testing::Test {
 protected:
  MicroBatchSessions sessions(MicroBatchSessions::MakeGraph make_graph) {
    return {full_, kFull, kCompile, std::move(make_graph)};
  }

  engine::Session full_{sums_of(kFull), kCompile};
};

TEST_F(MicroBatchSessionsTest, TheSmallestThatHoldsAMicroBatchComputesIt) {
  MicroBatchSessions sizes = sessions(sums_of);
  const auto eighths = [](int64_t of, int64_t count) { return (of * count + 7) / 8; };
  for (int64_t tokens = 1; tokens <= kFull.tokens; ++tokens) {
    for (int64_t predictions = 0; predictions <= kFull.predictions; ++predictions) {
      engine::Session& session = sizes.holding(batch_of(tokens, predictions));
      int64_t count = 1;
      while (eighths(kFull.tokens, count) < tokens ||
             eighths(kFull.predictions, count) < predictions) {
        ++count;
      }
      EXPECT_EQ(slots_in(session, "tokens"), eighths(kFull.tokens, count)) << tokens;
      EXPECT_EQ(slots_in(session, "predictions"), eighths(kFull.predictions, count));
      EXPECT_EQ(&session == &full_, count == MicroBatchSessions::kSizes);
      EXPECT_EQ(&session, &sizes.holding(batch_of(tokens, predictions)));
    }
  }
}

TEST_F(MicroBatchSessionsTest, AllAddToTheSame) {
  MicroBatchSessions sizes = sessions(sums_of);
  float expected = 0.0f;
  for (const int64_t tokens : {int64_t{3}, kFull.tokens, int64_t{20}}) {
    engine::Session& session = sizes.holding(batch_of(tokens, 1));
    session.clear(plan::Arena::kInputs);
    session.write_scalar("addend", static_cast<float>(tokens));
    session.run(graph::kMicroStep);
    expected += static_cast<float>(tokens);
    EXPECT_EQ(full_.read_scalar<float>("sum"), expected);
  }
}

TEST_F(MicroBatchSessionsTest, WithoutSmallerGraphsAllIsComputedInFull) {
  EXPECT_EQ(&sessions(nullptr).holding(batch_of(1, 0)), &full_);
}

// A planner may give fewer slots a layout that needs more memory.
TEST_F(MicroBatchSessionsTest, WhatASmallerOneNeedsMoreOfItHasItself) {
  constexpr int64_t kMore = 40 * kFull.tokens;
  MicroBatchSessions sizes = sessions([&](const data::MicroBatchCapacity& capacity) {
    return sums_of(
        {.tokens = kMore, .sequences = capacity.sequences, .predictions = capacity.predictions});
  });
  full_.clear(plan::Arena::kInputs);
  full_.run(graph::kMicroStep);
  engine::Session& session = sizes.holding(batch_of(1, 0));
  session.clear(plan::Arena::kInputs);
  session.write<float>("tokens", std::vector<float>(kMore, 3.0f));
  session.write_scalar("addend", 1.0f);
  session.run(graph::kMicroStep);
  EXPECT_EQ(session.read<float>("twice.tokens"), std::vector<float>(kMore, 6.0f));
  EXPECT_EQ(full_.read<float>("twice.tokens"), std::vector<float>(kFull.tokens, 0.0f));
  EXPECT_EQ(full_.read_scalar<float>("sum"), 1.0f);
}

TEST_F(MicroBatchSessionsTest, TheFullOneHasTheSpansOfAll) {
  MicroBatchSessions sizes = sessions(sums_of);
  engine::Session& small = sizes.holding(batch_of(3, 1));
  small.clear(plan::Arena::kInputs);
  full_.clear(plan::Arena::kInputs);
  full_.executor().set_profiling(true);
  small.run(graph::kMicroStep);
  full_.run(graph::kMicroStep);
  const auto& spans = full_.executor().spans();
  ASSERT_EQ(spans.size(), 6u);
  EXPECT_EQ(spans.front().program, &small.program());
  EXPECT_EQ(spans.back().program, &full_.program());
  EXPECT_GE(spans.back().begin, spans.front().begin);
  EXPECT_TRUE(small.executor().spans().empty());
  for (const auto& row : full_.executor().profile()) EXPECT_EQ(row.calls, 1);
}

// As a pipeline has two micro-batches on their way.
TEST_F(MicroBatchSessionsTest, AnotherPlaceSharesMetricsAndNoActivations) {
  MicroBatchSessions sizes = sessions(sums_of);
  const auto other = sizes.another();
  for (const int64_t tokens : {int64_t{3}, kFull.tokens}) {
    full_.clear(plan::Arena::kMetrics);
    engine::Session& here = sizes.holding(batch_of(tokens, 1));
    engine::Session& there = other->holding(batch_of(tokens, 1));
    EXPECT_NE(&here, &there);
    float number = 1.0f;
    for (engine::Session* const session : {&here, &there}) {
      session->clear(plan::Arena::kInputs);
      session->write_scalar("addend", number);
      const std::vector<float> values(static_cast<size_t>(slots_in(*session, "tokens")), number);
      session->write<float>("tokens", values);
      session->run(graph::kMicroStep);
      number += 1.0f;
    }
    EXPECT_EQ(full_.read_scalar<float>("sum"), 3.0f);
    EXPECT_EQ(here.read<float>("twice.tokens").front(), 2.0f);
    EXPECT_EQ(there.read<float>("twice.tokens").front(), 4.0f);
  }
}

TEST_F(MicroBatchSessionsTest, AnotherPlaceIsInTheProfileOfTheFirst) {
  MicroBatchSessions sizes = sessions(sums_of);
  const auto other = sizes.another();
  full_.executor().set_profiling(true);
  for (const int64_t tokens : {int64_t{3}, kFull.tokens}) {
    engine::Session& there = other->holding(batch_of(tokens, 1));
    there.clear(plan::Arena::kInputs);
    there.run(graph::kMicroStep);
    EXPECT_TRUE(there.executor().spans().empty());
    EXPECT_EQ(full_.executor().spans().back().program, &there.program());
  }
  EXPECT_EQ(full_.executor().spans().size(), 6u);
}

}  // namespace
}  // namespace cloze::train

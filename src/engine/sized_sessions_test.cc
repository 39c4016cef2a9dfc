#include "engine/sized_sessions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "ops/elementwise.h"

namespace cloze::engine {
namespace {

using Size = SizedSessions::Size;

constexpr Size kFull{.tokens = 43, .sequences = 5, .predictions = 9};
const CompileOptions kCompile{.target = {.threads = 1}};

// Tokens in tens.
Size rounded_up(const Size& need) {
  return {.tokens = std::min((need.tokens + 9) / 10 * 10, kFull.tokens),
          .sequences = kFull.sequences,
          .predictions = kFull.predictions};
}

// "sum" += tokens and predictions, each of their slots.
graph::Graph sums_of(const Size& size) {
  graph::Graph graph;
  for (const auto& [name, slots] :
       {std::pair{"tokens", size.tokens}, std::pair{"predictions", size.predictions}}) {
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

int64_t slots_in(Session& session, const char* input) {
  return session.graph().type(session.value(input)).shape.elements();
}

Size need_of(int64_t tokens) { return {.tokens = tokens, .sequences = 1, .predictions = 1}; }

class SizedSessionsTest : public testing::Test {
 protected:
  SizedSessions sessions(std::function<graph::Graph(const Size&)> make_graph) {
    return {full_, {kFull, kCompile, std::move(make_graph), rounded_up}};
  }

  Session full_{sums_of(kFull), kCompile};
};

TEST_F(SizedSessionsTest, AMicroBatchIsComputedInItsSize) {
  SizedSessions sizes = sessions(sums_of);
  for (int64_t tokens = 1; tokens <= kFull.tokens; ++tokens) {
    Session& session = sizes.holding(need_of(tokens));
    EXPECT_EQ(slots_in(session, "tokens"), rounded_up(need_of(tokens)).tokens) << tokens;
    EXPECT_EQ(slots_in(session, "predictions"), kFull.predictions);
    EXPECT_EQ(&session == &full_, tokens > 40) << tokens;
    EXPECT_EQ(&session, &sizes.holding(need_of(tokens)));
  }
}

// Each size takes so many more tokens.
TEST_F(SizedSessionsTest, TheSizesUsedLastAreKept) {
  int made = 0;
  SizedSessions sizes(full_, {.full = kFull,
                              .compile = kCompile,
                              .make_graph =
                                  [&](const Size& size) {
                                    ++made;
                                    return sums_of(size);
                                  },
                              .round_up = [](const Size& need) { return need; }});
  constexpr auto kMost = static_cast<int>(SizedSessions::kMostKept);
  for (int tokens = 1; tokens <= kMost; ++tokens) sizes.holding(need_of(tokens));
  sizes.holding(need_of(1));
  EXPECT_EQ(made, kMost);
  sizes.holding(need_of(kMost + 1));
  sizes.holding(need_of(1));
  EXPECT_EQ(made, kMost + 1) << "it was used before";
  sizes.holding(need_of(2));
  EXPECT_EQ(made, kMost + 2) << "it was used first";
}

TEST_F(SizedSessionsTest, AllAddToTheSame) {
  SizedSessions sizes = sessions(sums_of);
  float expected = 0.0f;
  for (const int64_t tokens : {int64_t{3}, kFull.tokens, int64_t{20}}) {
    Session& session = sizes.holding(need_of(tokens));
    session.clear(plan::Arena::kInputs);
    session.write_scalar("addend", static_cast<float>(tokens));
    session.run(graph::kMicroStep);
    expected += static_cast<float>(tokens);
    EXPECT_EQ(full_.read_scalar<float>("sum"), expected);
  }
}

TEST_F(SizedSessionsTest, WithoutOtherGraphsAllIsComputedInFull) {
  EXPECT_EQ(&sessions(nullptr).holding(need_of(1)), &full_);
}

// A planner may give fewer slots a layout that needs more memory.
TEST_F(SizedSessionsTest, WhatAnotherOneNeedsMoreOfItHasItself) {
  constexpr int64_t kMore = 40 * kFull.tokens;
  SizedSessions sizes = sessions([&](const Size& size) {
    return sums_of({.tokens = kMore, .sequences = size.sequences, .predictions = size.predictions});
  });
  full_.clear(plan::Arena::kInputs);
  full_.run(graph::kMicroStep);
  Session& session = sizes.holding(need_of(1));
  session.clear(plan::Arena::kInputs);
  session.write<float>("tokens", std::vector<float>(kMore, 3.0f));
  session.write_scalar("addend", 1.0f);
  session.run(graph::kMicroStep);
  EXPECT_EQ(session.read<float>("twice.tokens"), std::vector<float>(kMore, 6.0f));
  EXPECT_EQ(full_.read<float>("twice.tokens"), std::vector<float>(kFull.tokens, 0.0f));
  EXPECT_EQ(full_.read_scalar<float>("sum"), 1.0f);
}

TEST_F(SizedSessionsTest, TheFullOneHasTheSpansOfAll) {
  SizedSessions sizes = sessions(sums_of);
  Session& small = sizes.holding(need_of(3));
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

// A pipeline has two micro-batches on their way so.
TEST_F(SizedSessionsTest, AnotherPlaceSharesMetricsAndNoActivations) {
  SizedSessions sizes = sessions(sums_of);
  const auto other = sizes.another();
  for (const int64_t tokens : {int64_t{3}, kFull.tokens}) {
    full_.clear(plan::Arena::kMetrics);
    Session& here = sizes.holding(need_of(tokens));
    Session& there = other->holding(need_of(tokens));
    EXPECT_NE(&here, &there);
    float number = 1.0f;
    for (Session* const session : {&here, &there}) {
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

TEST_F(SizedSessionsTest, AnotherPlaceIsInTheProfileOfTheFirst) {
  SizedSessions sizes = sessions(sums_of);
  const auto other = sizes.another();
  full_.executor().set_profiling(true);
  for (const int64_t tokens : {int64_t{3}, kFull.tokens}) {
    Session& there = other->holding(need_of(tokens));
    there.clear(plan::Arena::kInputs);
    there.run(graph::kMicroStep);
    EXPECT_TRUE(there.executor().spans().empty());
    EXPECT_EQ(full_.executor().spans().back().program, &there.program());
  }
  EXPECT_EQ(full_.executor().spans().size(), 6u);
}

}  // namespace
}  // namespace cloze::engine

#include "runtime/executor.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"
#include "engine/session.h"
#include "ops/elementwise.h"

namespace cloze::runtime {
namespace {

const graph::TensorType kRow{DType::kF32, {4}};

graph::Graph sum_of_inputs() {
  graph::Graph graph;
  const auto a = graph.add_input("a", kRow);
  const auto b = graph.add_input("b", kRow);
  graph.mark_output(graph.add_one(ops::kAdd, {a, b}), "sum");
  return graph;
}

TEST(Executor, AnInputThatNobodyWroteIsAnError) {
  engine::Session session(sum_of_inputs(), {.num_threads = 1});
  const std::vector<float> ones(4, 1.0f);
  session.write<float>("a", ones);
  EXPECT_THROW(session.run(graph::kMicroStep), InternalError);
  session.write<float>("b", ones);
  session.run(graph::kMicroStep);
  EXPECT_EQ(session.read<float>("sum"), std::vector<float>(4, 2.0f));
}

TEST(Executor, AnOptionalInputIsZeros) {
  graph::Graph graph = sum_of_inputs();
  graph.info(*graph.find("b")).is_optional = true;
  engine::Session session(std::move(graph), {.num_threads = 1});
  const std::vector<float> ones(4, 1.0f);
  session.write<float>("a", ones);
  session.run(graph::kMicroStep);
  EXPECT_EQ(session.read<float>("sum"), ones);
}

TEST(Executor, ClearedInputsAreWritten) {
  engine::Session session(sum_of_inputs(), {.num_threads = 1});
  session.clear(plan::Arena::kInputs);
  session.run(graph::kMicroStep);
  EXPECT_EQ(session.read<float>("sum"), std::vector<float>(4, 0.0f));
}

TEST(Executor, SizesAndPhasesAreChecked) {
  engine::Session session(sum_of_inputs(), {.num_threads = 1});
  const std::vector<float> three(3);
  EXPECT_THROW(session.write<float>("a", three), InternalError);
  EXPECT_THROW(session.read_scalar<float>("a"), InternalError);
  EXPECT_THROW(session.run("midnight"), InternalError);
  std::vector<std::byte> part(8);
  EXPECT_THROW(session.executor().read_part(session.value("a"), 12, part), InternalError);
}

TEST(Executor, ProfilesTheLaunchesOfEachRun) {
  engine::Session session(sum_of_inputs(), {.num_threads = 1});
  session.clear(plan::Arena::kInputs);
  Executor& executor = session.executor();
  session.run(graph::kMicroStep);
  EXPECT_TRUE(executor.spans().empty());
  executor.set_profiling(true);
  session.run(graph::kMicroStep);
  session.run(graph::kMicroStep);
  executor.set_profiling(false);
  session.run(graph::kMicroStep);
  ASSERT_EQ(executor.spans().size(), 2u);
  const auto [first, second] = std::pair(executor.spans()[0], executor.spans()[1]);
  EXPECT_GE(first.begin, 0.0);
  EXPECT_GE(second.begin, first.begin + first.seconds);
  ASSERT_EQ(executor.profile().size(), 1u);
  EXPECT_EQ(executor.profile()[0].calls, 2);
  EXPECT_DOUBLE_EQ(executor.profile()[0].seconds, first.seconds + second.seconds);
  executor.set_profiling(true);
  EXPECT_TRUE(executor.spans().empty());
}

}  // namespace
}  // namespace cloze::runtime

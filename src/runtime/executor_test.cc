#include "runtime/executor.h"

#include <gtest/gtest.h>

#include <vector>

#include "backend/late/late_device.h"
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
  engine::Session session(sum_of_inputs(), {.target = {.threads = 1}});
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
  engine::Session session(std::move(graph), {.target = {.threads = 1}});
  const std::vector<float> ones(4, 1.0f);
  session.write<float>("a", ones);
  session.run(graph::kMicroStep);
  EXPECT_EQ(session.read<float>("sum"), ones);
}

TEST(Executor, ClearedInputsAreWritten) {
  engine::Session session(sum_of_inputs(), {.target = {.threads = 1}});
  session.clear(plan::Arena::kInputs);
  session.run(graph::kMicroStep);
  EXPECT_EQ(session.read<float>("sum"), std::vector<float>(4, 0.0f));
}

TEST(Executor, SizesAndPhasesAreChecked) {
  engine::Session session(sum_of_inputs(), {.target = {.threads = 1}});
  const std::vector<float> three(3);
  EXPECT_THROW(session.write<float>("a", three), InternalError);
  EXPECT_THROW(session.read_scalar<float>("a"), InternalError);
  EXPECT_THROW(session.run("midnight"), InternalError);
  std::vector<std::byte> part(8);
  EXPECT_THROW(session.executor().read_part(session.value("a"), 12, part), InternalError);
}

TEST(Executor, ProfilesTheLaunchesOfEachRun) {
  engine::Session session(sum_of_inputs(), {.target = {.threads = 1}});
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

// sum += input
graph::Graph running_sum() {
  graph::Graph graph;
  const auto input = graph.add_input("input", graph::kScalar);
  const auto sum = graph.add_variable(
      {.name = "sum", .type = graph::kScalar, .role = graph::VariableRole::kMetric});
  graph.add_into(ops::kAccumulate, {input}, {}, {{sum, true}});
  return graph;
}

plan::Program sum_program() { return engine::compile(running_sum(), {.target = {.threads = 1}}); }

std::shared_ptr<backend::DeviceMemory> metrics_of_a_sum(backend::Device& device) {
  return device.allocate(static_cast<size_t>(sum_program().bytes_of(plan::Arena::kMetrics)));
}

// Adds 2 in one session and 3 in the other, and reads the sum in the first.
float sum_of_both(engine::Session& first, engine::Session& second) {
  first.write_scalar("input", 2.0f);
  second.write_scalar("input", 3.0f);
  first.run(graph::kMicroStep);
  second.run(graph::kMicroStep);
  return first.read_scalar<float>("sum");
}

// The second has the first one's sum, but another stream: what sharing memory must never do.
float sum_on_two_streams(backend::Device& device) {
  const std::shared_ptr<backend::DeviceMemory> sum = metrics_of_a_sum(device);
  const auto memory = [&] {
    return SharedMemory{.stream = device.make_stream(), .arenas = {{plan::Arena::kMetrics, sum}}};
  };
  engine::Session first(sum_program(), device, memory());
  engine::Session second(sum_program(), device, memory());
  return sum_of_both(first, second);
}

TEST(Executor, SharedMemoryHasOneStream) {
  constexpr uint64_t kSeeds = 20;
  uint64_t seeds_that_show = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    backend::Device& device = backend::late::device(seed);
    engine::Session full(sum_program(), device);
    engine::Session smaller(sum_program(), device, full.executor().memory_beside_inputs());
    EXPECT_EQ(sum_of_both(full, smaller), 5.0f) << seed;
    full.write_scalar("sum", 0.0f);
    engine::Session another(full.program(), device, full.executor().memory_beside_a_batch());
    EXPECT_EQ(sum_of_both(full, another), 5.0f) << seed;
    seeds_that_show += sum_on_two_streams(device) != 5.0f ? 1 : 0;
  }
  EXPECT_GE(seeds_that_show, kSeeds / 2);
}

TEST(Executor, EndsWhenItsWorkIsDone) {
  backend::Device& device = backend::late::device(0);
  const std::shared_ptr<backend::DeviceMemory> sum = metrics_of_a_sum(device);
  {
    engine::Session session(sum_program(), device,
                            {device.make_stream(), {{plan::Arena::kMetrics, sum}}});
    session.write_scalar("input", 2.0f);
    session.run(graph::kMicroStep);
  }
  float value = 0.0f;
  device.make_stream()->copy_out(sum->start(), std::as_writable_bytes(std::span(&value, 1)));
  EXPECT_EQ(value, 2.0f);
}

}  // namespace
}  // namespace cloze::runtime

#include "runtime/arena_copy.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "engine/session.h"
#include "ops/elementwise.h"

namespace cloze::runtime {
namespace {

// unused; total += a
engine::Session sum_session(const std::string& device) {
  graph::Graph graph;
  const auto a = graph.add_input("a", graph::kScalar);
  for (const char* name : {"unused", "total"}) {
    graph.add_variable(
        {.name = name, .type = graph::kScalar, .role = graph::VariableRole::kMetric});
  }
  graph.add_into(ops::kAccumulate, {a}, {}, {{*graph.find("total"), true}});
  return {std::move(graph), {.device = device, .target = {.threads = 1}}};
}

class Copies : public testing::TestWithParam<std::string> {};

// On a device whose memory is closed to the host, and on one that is late, too.
TEST_P(Copies, ResultsOfSeveralRunsAreLookedAtLater) {
  engine::Session session = sum_session(GetParam());
  const graph::Value total = session.value("total");
  ArenaCopy copies[] = {{session.executor(), plan::Arena::kMetrics},
                        {session.executor(), plan::Arena::kMetrics},
                        {session.executor(), plan::Arena::kMetrics}};
  for (const size_t i : {2, 0, 1}) {
    session.write_scalar("a", static_cast<float>(i + 1));
    session.run(graph::kMicroStep);
    copies[i].take();
  }
  const float totals[] = {4.0f, 6.0f, 3.0f};  // after 3 + 1, after 3 + 1 + 2, after 3
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(copies[i].scalar<float>(total), totals[i]) << i;
  EXPECT_EQ(copies[0].scalar<float>(session.value("unused")), 0.0f);
  copies[2].take();
  EXPECT_EQ(copies[2].scalar<float>(total), 6.0f) << "it was taken a second time";
}

TEST_P(Copies, AWholeArenaIsReadAndWritten) {
  engine::Session session = sum_session(GetParam());
  std::vector<std::byte> metrics(
      static_cast<size_t>(session.program().bytes_of(plan::Arena::kMetrics)));
  session.write_scalar("a", 3.0f);
  session.run(graph::kMicroStep);
  session.executor().read(plan::Arena::kMetrics, metrics);
  session.run(graph::kMicroStep);
  EXPECT_EQ(session.read_scalar<float>("total"), 6.0f);
  session.executor().write(plan::Arena::kMetrics, metrics);
  EXPECT_EQ(session.read_scalar<float>("total"), 3.0f);
}

INSTANTIATE_TEST_SUITE_P(Devices, Copies, testing::Values("cpu", "walled", "late"),
                         [](const auto& info) { return info.param; });

TEST(ArenaCopy, WhatIsNotInItIsAnError) {
  engine::Session session = sum_session("cpu");
  ArenaCopy metrics(session.executor(), plan::Arena::kMetrics);
  EXPECT_THROW(metrics.scalar<float>(session.value("total")), InternalError) << "nothing is taken";
  metrics.take();
  EXPECT_EQ(metrics.scalar<float>(session.value("total")), 0.0f);
  EXPECT_THROW(metrics.scalar<double>(session.value("total")), InternalError);
  EXPECT_THROW(metrics.scalar<float>(session.value("a")), InternalError);
}

}  // namespace
}  // namespace cloze::runtime

#include "runtime/arena_snapshots.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"
#include "engine/session.h"
#include "ops/elementwise.h"

namespace cloze::runtime {
namespace {

// total += a
engine::Session sum_session(const std::string& device) {
  const graph::TensorType row{DType::kF32, {4}};
  graph::Graph graph;
  const auto a = graph.add_input("a", row);
  const auto total =
      graph.add_variable({.name = "total", .type = row, .role = graph::VariableRole::kMetric});
  graph.add_into(ops::kAccumulate, {a}, {}, {{total, true}});
  return {std::move(graph), {.device = device, .num_threads = 1}};
}

class Snapshots : public testing::TestWithParam<std::string> {};

// On a device whose memory is closed to the host too.
TEST_P(Snapshots, ResultsOfSeveralRunsAreReadLater) {
  engine::Session session = sum_session(GetParam());
  ArenaSnapshots metrics(session.executor(), plan::Arena::kMetrics);
  for (const size_t i : {2, 0, 1}) {
    const std::vector<float> a(4, static_cast<float>(i + 1));
    session.write<float>("a", a);
    session.run(graph::kMicroStep);
    metrics.take(i);
  }
  const float totals[] = {4.0f, 6.0f, 3.0f};  // after 3 + 1, after 3 + 1 + 2, after 3
  for (size_t i = 0; i < 3; ++i) {
    metrics.put_back(i);
    EXPECT_EQ(session.read<float>("total"), std::vector<float>(4, totals[i])) << i;
  }
  metrics.take(0);
  metrics.put_back(0);
  EXPECT_EQ(session.read<float>("total")[0], 3.0f) << "the number was taken a second time";
}

INSTANTIATE_TEST_SUITE_P(Devices, Snapshots, testing::Values("cpu", "walled", "late"),
                         [](const auto& info) { return info.param; });

TEST(ArenaSnapshots, ANumberThatWasNeverTakenIsAnError) {
  engine::Session session = sum_session("cpu");
  ArenaSnapshots metrics(session.executor(), plan::Arena::kMetrics);
  EXPECT_THROW(metrics.put_back(0), InternalError);
}

}  // namespace
}  // namespace cloze::runtime

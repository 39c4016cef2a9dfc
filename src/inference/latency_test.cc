#include "inference/latency.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"
#include "inference/small_model_test.h"

namespace cloze::inference {
namespace {

TEST(Summarize, PercentilesAreTimesThatWereMeasured) {
  std::vector<double> seconds(1000);
  std::iota(seconds.rbegin(), seconds.rend(), 1.0);
  const LatencySummary summary = summarize(seconds);
  EXPECT_EQ(summary.p50, 500.0);
  EXPECT_EQ(summary.p90, 900.0);
  EXPECT_EQ(summary.p99, 990.0);
  EXPECT_EQ(summary.p999, 999.0);
  EXPECT_EQ(summary.mean, 500.5);
  EXPECT_EQ(summarize({3.0}).p50, 3.0);
}

class LatencyTest : public testing::Test {
 protected:
  const SmallModelFolder folder_{models::HeadKind::kQuestionAnswering, "latency_test"};
  const std::shared_ptr<const PackedModel> model_ = std::make_shared<const PackedModel>(
      PackedModel::pack(open_pretrained_model(folder_.path()), {}));
  const LatencyOptions options_{.num_clients = 3, .calls_per_client = 4, .warm_up_calls = 1};
};

TEST_F(LatencyTest, CountsEveryCallOfEveryClient) {
  const LatencyRun run = measure_latency(model_, options_, [](int64_t call) {
    return std::vector{random_sample(1 + call, 1), random_sample(2, 2)};
  });
  EXPECT_EQ(run.seconds.size(), 12u);
  EXPECT_EQ(run.sequences, 24);
  EXPECT_EQ(run.tokens, 12 * 13 / 2 + 24);
  EXPECT_GT(run.elapsed, 0.0);
  EXPECT_GE(3 * run.elapsed, std::accumulate(run.seconds.begin(), run.seconds.end(), 0.0));
}

TEST_F(LatencyTest, PassesAnErrorOn) {
  const auto too_long_for_one = [](int64_t call) {
    return std::vector{random_sample(call == 6 ? 65 : 3, 1)};
  };
  EXPECT_THROW(measure_latency(model_, options_, too_long_for_one), UserError);
}

}  // namespace
}  // namespace cloze::inference

#include "serve/metrics.h"

#include <gtest/gtest.h>

namespace cloze::serve {
namespace {

TEST(Metrics, CountsRepliesByPathAndStatus) {
  Metrics metrics;
  metrics.count({.path = "/fill", .status = 200, .seconds = 0.003});
  metrics.count({.path = "/fill", .status = 200, .seconds = 0.003});
  metrics.count({.path = "other", .status = 404, .seconds = 0.0001});
  metrics.count_batch(6);
  const std::string text = metrics.prometheus({.waiting_inputs = 7, .connections = 3});
  for (const std::string line :
       {"cloze_requests_total{path=\"/fill\",status=\"200\"} 2",
        "cloze_requests_total{path=\"other\",status=\"404\"} 1", "cloze_waiting_inputs 7",
        "cloze_connections 3", "cloze_request_seconds_bucket{le=\"0.002\"} 1",
        "cloze_request_seconds_bucket{le=\"0.005\"} 3", "cloze_batch_inputs_bucket{le=\"4\"} 0",
        "cloze_batch_inputs_bucket{le=\"8\"} 1", "cloze_batch_inputs_sum 6"}) {
    EXPECT_NE(text.find("\n" + line + "\n"), std::string::npos) << line << "\nin\n" << text;
  }
}

TEST(Metrics, SummarisesWhatCameSinceTheLastTime) {
  Metrics metrics;
  EXPECT_EQ(metrics.take_summary(), "");
  metrics.count({.path = "/fill", .status = 200, .seconds = 0.003});
  metrics.count({.path = "/fill", .status = 400, .seconds = 0.003});
  metrics.count({.path = "/fill", .status = 503, .seconds = 40});
  metrics.count_batch(3);
  EXPECT_EQ(metrics.take_summary(),
            "3 requests: 1 good, 1 refused (4xx), 1 failed (5xx); half within 5 ms, 99 % over 30 "
            "s; 3.0 inputs a batch");
  EXPECT_EQ(metrics.take_summary(), "");
}

}  // namespace
}  // namespace cloze::serve

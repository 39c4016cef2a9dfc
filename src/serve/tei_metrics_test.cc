#include "serve/tei_metrics.h"

#include <gtest/gtest.h>

namespace cloze::serve {
namespace {

TEST(TeiMetrics, CountsUnderTeisNames) {
  TeiMetrics metrics;
  metrics.count_good({.work = Work::kPredict, .inputs = 1, .tokens = 7, .seconds = 0.01});
  metrics.count_good({.work = Work::kEmbed, .is_batch = true, .inputs = 4, .tokens = 12});
  metrics.count_failed({.work = Work::kEmbed, .is_batch = true}, Trouble::kTooLarge);
  metrics.count_failed({.work = Work::kPredict, .inputs = 2}, Trouble::kQueueFull);
  metrics.count_batch({.inputs = 5, .tokens = 19});
  const std::string text = metrics.prometheus(3);
  for (const std::string line : {"te_request_count{method=\"single\"} 2",
                                 "te_request_count{method=\"batch\"} 2",
                                 "te_request_success{method=\"single\"} 1",
                                 "te_request_success{method=\"batch\"} 1",
                                 "te_request_failure{err=\"batch_size\"} 1",
                                 "te_request_failure{err=\"overloaded\"} 1",
                                 "te_embed_count 4",
                                 "te_embed_success 4",
                                 "te_predict_count 3",
                                 "te_predict_success 1",
                                 "te_request_duration_count 2",
                                 "te_request_tokenization_duration_count 2",
                                 "te_request_queue_duration_count 2",
                                 "te_request_inference_duration_count 2",
                                 "te_embed_duration_count 1",
                                 "te_predict_duration_sum 0.01",
                                 "te_request_duration_bucket{le=\"1.5e-05\"} 1",
                                 "te_request_input_length_bucket{le=\"4\"} 1",
                                 "te_request_input_length_bucket{le=\"8\"} 2",
                                 "te_batch_next_size_bucket{le=\"8\"} 1",
                                 "te_batch_next_tokens_bucket{le=\"16\"} 0",
                                 "te_batch_next_tokens_bucket{le=\"32\"} 1",
                                 "te_queue_size 3"}) {
    EXPECT_NE(text.find("\n" + line + "\n"), std::string::npos) << line << "\nin\n" << text;
  }
}

TEST(TeiMetrics, EveryTroubleHasAName) {
  for (const auto& [trouble, name] : {std::pair(Trouble::kInvalid, "validation"),
                                      {Trouble::kEmpty, "validation"},
                                      {Trouble::kTooLarge, "batch_size"},
                                      {Trouble::kModelFailed, "inference"},
                                      {Trouble::kQueueFull, "overloaded"},
                                      {Trouble::kExpired, "dropped"},
                                      {Trouble::kStopping, "dropped"}}) {
    EXPECT_EQ(tei_name(trouble), name);
  }
}

}  // namespace
}  // namespace cloze::serve

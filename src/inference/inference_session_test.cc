#include "inference/inference_session.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"
#include "inference/small_model_test.h"

namespace cloze::inference {
namespace {

// A row of logits for each sample, in order.
std::vector<std::vector<float>> logits_of(InferenceSession& session,
                                          const std::vector<data::Sample>& samples) {
  std::vector<std::vector<float>> rows(samples.size());
  session.run(samples, [&](const data::MicroBatch& batch) {
    const auto logits = session.output("class_logits");
    for (int64_t b = 0; b < batch.num_sequences; ++b) {
      const auto row = logits.subspan(3 * static_cast<size_t>(b), 3);
      rows[static_cast<size_t>(batch.sequence_ids[b])].assign(row.begin(), row.end());
    }
  });
  return rows;
}

InferenceSession session_of(const SmallModelFolder& folder, const InferenceOptions& options) {
  InferenceSession session(SmallModelFolder::config(), folder.head(), options);
  session.load(folder.path());
  return session;
}

TEST(InferenceSession, ASampleDoesNotSeeItsNeighbours) {
  const SmallModelFolder folder(models::HeadKind::kSequenceClassification, "neighbours");
  InferenceSession session =
      session_of(folder, {.tokens_per_micro_batch = 100, .sequences_per_micro_batch = 3});
  std::vector<data::Sample> samples;
  for (uint64_t i = 0; i < 120; ++i) {
    samples.push_back(random_sample(1 + static_cast<int64_t>(i % 64), i));
  }
  const auto together = logits_of(session, samples);
  for (size_t i = 0; i < samples.size(); i += 17) {
    const auto alone = logits_of(session, {samples[i]});
    for (size_t c = 0; c < 3; ++c) EXPECT_NEAR(alone[0][c], together[i][c], 1e-6) << i;
  }
  EXPECT_NE(together[0], together[1]);
}

TEST(InferenceSession, HasRoomForTheLongestSample) {
  const SmallModelFolder folder(models::HeadKind::kSequenceClassification, "longest");
  InferenceSession session = session_of(folder, {.tokens_per_micro_batch = 4});
  EXPECT_EQ(logits_of(session, {random_sample(64, 1)})[0].size(), 3u);
  EXPECT_THROW(logits_of(session, {random_sample(65, 1)}), UserError);
  EXPECT_TRUE(logits_of(session, {}).empty());
}

}  // namespace
}  // namespace cloze::inference

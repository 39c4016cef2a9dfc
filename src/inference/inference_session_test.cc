#include "inference/inference_session.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"

namespace cloze::inference {
namespace {

const models::BertConfig kModel{.vocab_size = 50,
                                .hidden_size = 16,
                                .num_hidden_layers = 2,
                                .num_attention_heads = 2,
                                .intermediate_size = 24,
                                .max_position_embeddings = 24};
const models::BertHead kThreeClasses{.kind = models::HeadKind::kSequenceClassification,
                                     .labels = {"a", "b", "c"}};

data::Sample sample_of(int32_t length) {
  data::Sample sample;
  for (int32_t i = 0; i < length; ++i) sample.input_ids.push_back((7 * length + 3 * i) % 50);
  sample.token_type_ids.assign(static_cast<size_t>(length), 0);
  return sample;
}

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

engine::Session initialized_session() {
  graph::Graph graph;
  models::bert_for_inference(graph, kModel, kThreeClasses, {.tokens = 24, .sequences = 1});
  engine::Session session(std::move(graph), {});
  session.initialize_parameters(5);
  return session;
}

TEST(InferenceSession, ASampleDoesNotSeeItsNeighbours) {
  engine::Session weights = initialized_session();
  InferenceSession session(kModel, kThreeClasses,
                           {.tokens_per_micro_batch = 40, .sequences_per_micro_batch = 3});
  session.copy_parameters(weights);
  std::vector<data::Sample> samples;
  for (int32_t i = 0; i < 120; ++i) samples.push_back(sample_of(1 + i % 24));
  const auto together = logits_of(session, samples);
  for (size_t i = 0; i < samples.size(); i += 17) {
    const auto alone = logits_of(session, {samples[i]});
    for (size_t c = 0; c < 3; ++c) EXPECT_NEAR(alone[0][c], together[i][c], 1e-6) << i;
  }
  EXPECT_NE(together[0], together[1]);
}

TEST(InferenceSession, HasRoomForTheLongestSample) {
  engine::Session weights = initialized_session();
  InferenceSession session(kModel, kThreeClasses, {.tokens_per_micro_batch = 4});
  session.copy_parameters(weights);
  EXPECT_EQ(logits_of(session, {sample_of(24)})[0].size(), 3u);
  EXPECT_THROW(logits_of(session, {sample_of(25)}), UserError);
  EXPECT_TRUE(logits_of(session, {}).empty());
}

}  // namespace
}  // namespace cloze::inference

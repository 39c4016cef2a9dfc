#include "inference/inference_client.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "base/error.h"
#include "data/packer.h"
#include "feed/micro_batch_inputs.h"
#include "feed/parameter_loading.h"
#include "inference/small_model_test.h"

namespace cloze::inference {
namespace {

using models::HeadKind;

using Logits = std::vector<std::vector<float>>;  // by sample

std::shared_ptr<const PackedModel> packed(const SmallModelFolder& folder, DType precision) {
  return std::make_shared<const PackedModel>(
      PackedModel::pack(open_pretrained_model(folder.path()), {.precision = precision}));
}

void take_logits(std::span<const float> all, const data::MicroBatch& batch, Logits& logits) {
  for (int64_t b = 0; b < batch.num_sequences; ++b) {
    const auto begin = all.begin() + 2 * batch.sequence_starts[b];
    logits[batch.sequence_ids[b]].assign(begin, all.begin() + 2 * batch.sequence_starts[b + 1]);
  }
}

// span_logits of each sample, whatever the batch it came in.
Logits span_logits(InferenceClient& client, const std::vector<data::Sample>& samples) {
  Logits logits(samples.size());
  client.run_each(samples, [&](size_t sample, std::span<const float> own) {
    logits[sample].assign(own.begin(), own.end());
  });
  return logits;
}

// The same without anything that makes inference fast: weights as they are, one batch for all.
Logits plain_span_logits(const SmallModelFolder& folder, const std::vector<data::Sample>& samples) {
  const data::MicroBatchCapacity capacity{.tokens = 256, .sequences = 16};
  graph::Graph graph;
  models::bert_for_inference(graph, SmallModelFolder::config(), folder.head(),
                             {capacity.tokens, capacity.sequences});
  engine::Session session(std::move(graph), {.target = {.threads = 1}});
  feed::load_parameters(session, folder.path());
  Logits logits(samples.size());
  for (const data::MicroBatch& batch : data::pack(samples, capacity).micro_batches) {
    feed::write_micro_batch(session, batch);
    session.run(graph::kMicroStep);
    take_logits(session.read<float>("span_logits"), batch, logits);
  }
  return logits;
}

void expect_near(const Logits& a, const Logits& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].size(), b[i].size());
    for (size_t j = 0; j < a[i].size(); ++j) EXPECT_NEAR(a[i][j], b[i][j], 1e-5) << i << " " << j;
  }
}

std::vector<data::Sample> some_samples() {
  std::vector<data::Sample> samples;
  for (const int64_t length : {1, 16, 17, 33, 64}) {
    samples.push_back(random_sample(length, static_cast<uint64_t>(length)));
  }
  return samples;
}

class InferenceClientTest : public testing::Test {
 protected:
  const SmallModelFolder folder_{HeadKind::kQuestionAnswering, "inference_client_test"};
};

TEST_F(InferenceClientTest, GivesWhatThePlainGraphGives) {
  InferenceClient client(packed(folder_, DType::kF32), 1);
  const auto samples = some_samples();
  const Logits together = span_logits(client, samples);
  expect_near(together, plain_span_logits(folder_, samples));
  for (size_t i = 0; i < samples.size(); ++i) {  // alone: a program of another size
    EXPECT_EQ(span_logits(client, {samples[i]})[0], together[i]) << i;
  }
}

TEST_F(InferenceClientTest, ManySamplesTakeSeveralBatches) {
  InferenceClient client(packed(folder_, DType::kF32), 1);
  std::vector<data::Sample> samples;
  for (uint64_t i = 0; i < 700; ++i) {
    samples.push_back(random_sample(1 + static_cast<int64_t>(i % 64), i));
  }
  int batches = 0;
  client.run(samples, [&](const data::MicroBatch& batch) {
    ++batches;
    EXPECT_LE(batch.num_tokens, InferenceClient::kMostTokens);
  });
  EXPECT_GT(batches, 5);
  const Logits together = span_logits(client, samples);
  for (size_t i = 0; i < samples.size(); i += 97) {
    EXPECT_EQ(span_logits(client, {samples[i]})[0], together[i]) << i;
  }
  EXPECT_TRUE(span_logits(client, {}).empty());
}

TEST_F(InferenceClientTest, ALittleTooManyTokensAreSharedOutEvenly) {
  InferenceClient client(packed(folder_, DType::kF32), 1);
  const std::vector<data::Sample> samples(100, random_sample(64, 1));  // 6400 tokens
  std::vector<size_t> slots;
  client.run(samples,
             [&](const data::MicroBatch& batch) { slots.push_back(batch.input_ids.size()); });
  EXPECT_EQ(slots, std::vector<size_t>(2, static_cast<size_t>(slots_for(3200 + 64))));
}

TEST_F(InferenceClientTest, TakesTheWeightsOfASessionThatTrains) {
  engine::Session session(
      inference_graph(SmallModelFolder::config(), folder_.head(), {16, 1, 1}, PackOptions()),
      {.target = {.threads = 1}});
  feed::load_parameters(session, folder_.path());
  InferenceClient from_session(std::make_shared<const PackedModel>(PackedModel::pack(
                                   open_pretrained_model(folder_.path()), session, {})),
                               1);
  InferenceClient from_folder(packed(folder_, DType::kF32), 1);
  const auto samples = some_samples();
  EXPECT_EQ(span_logits(from_session, samples), span_logits(from_folder, samples));
}

TEST_F(InferenceClientTest, RoundedWeightsGiveNearlyTheSame) {
  InferenceClient exact(packed(folder_, DType::kF32), 1);
  InferenceClient rounded(packed(folder_, DType::kBF16), 1);
  const auto samples = some_samples();
  const Logits a = span_logits(exact, samples);
  const Logits b = span_logits(rounded, samples);
  double difference = 0.0, size = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < a[i].size(); ++j) {
      difference += (a[i][j] - b[i][j]) * (a[i][j] - b[i][j]);
      size += a[i][j] * a[i][j];
    }
  }
  const double relative = std::sqrt(difference / size);
  EXPECT_GT(relative, 0.0);
  EXPECT_LT(relative, 16 * unit_roundoff(DType::kBF16));
}

TEST_F(InferenceClientTest, ClientsInThreadsGiveTheSame) {
  const auto model = packed(folder_, DType::kF32);
  const auto samples = some_samples();
  InferenceClient alone(model, 1);
  const Logits expected = span_logits(alone, samples);
  std::vector<int> equal(4);
  std::vector<std::thread> threads;
  for (int& is_equal : equal) {
    threads.emplace_back([&] {
      InferenceClient client(model, 1);
      is_equal = 1;
      for (int i = 0; i < 5; ++i) is_equal &= span_logits(client, samples) == expected;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(equal, std::vector<int>(4, 1));
}

TEST_F(InferenceClientTest, KeepsRunningWhenShapesChangeOften) {
  InferenceClient client(packed(folder_, DType::kF32), 1);
  const data::Sample sample = random_sample(20, 5);
  const Logits expected = span_logits(client, {sample});
  for (size_t count = 1; count < 150; count += 4) {
    const Logits logits = span_logits(client, std::vector<data::Sample>(count, sample));
    EXPECT_EQ(logits.back(), expected[0]) << count;
  }
}

TEST_F(InferenceClientTest, RefusesWhatTheModelCannotRead) {
  InferenceClient client(packed(folder_, DType::kF32), 1);
  const auto message = [&](const data::Sample& sample) -> std::string {
    try {
      span_logits(client, {sample});
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(random_sample(65, 1)), "a sequence has 65 tokens; the model takes 1 to 64");
  EXPECT_EQ(message({}), "a sequence has 0 tokens; the model takes 1 to 64");
  data::Sample sample = random_sample(4, 1);
  sample.input_ids[2] = 97;
  EXPECT_EQ(message(sample), "token id 97; the model has 0 to 96");
}

TEST_F(InferenceClientTest, RefusesAModelOfAnotherHead) {
  const auto model = packed(folder_, DType::kF32);
  EXPECT_NO_THROW(InferenceClient(model, HeadKind::kQuestionAnswering, 1));
  EXPECT_THROW(InferenceClient(model, HeadKind::kPretraining, 1), UserError);
}

TEST(SlotsFor, RoundsUpALittle) {
  EXPECT_EQ(slots_for(1), 16);
  EXPECT_EQ(slots_for(17), 24);
  EXPECT_EQ(slots_for(128), 128);
  EXPECT_EQ(slots_for(129), 144);
  EXPECT_EQ(slots_for(384), 384);
  for (int64_t tokens = 9; tokens < 3000; ++tokens) {
    EXPECT_GE(slots_for(tokens), tokens);
    EXPECT_LE(slots_for(tokens), tokens + std::max<int64_t>(7, tokens / 8)) << tokens;
  }
}

}  // namespace
}  // namespace cloze::inference

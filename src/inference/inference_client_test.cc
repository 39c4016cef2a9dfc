#include "inference/inference_client.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "base/error.h"
#include "inference/inference_session.h"
#include "inference/small_model_test.h"

namespace cloze::inference {
namespace {

using models::HeadKind;

using Logits = std::vector<std::vector<float>>;  // by sample

std::shared_ptr<const CompiledModel> compiled(const SmallModelFolder& folder, DType precision) {
  return std::make_shared<const CompiledModel>(CompiledModel::compile(folder.path(), precision));
}

// span_logits of each sample, whatever the batch it came in.
template <class Runner>
Logits span_logits(Runner& runner, const std::vector<data::Sample>& samples) {
  Logits logits(samples.size());
  runner.run(samples, [&](const data::MicroBatch& batch) {
    const std::span<const float> all = runner.output("span_logits");
    for (int64_t b = 0; b < batch.num_sequences; ++b) {
      const auto begin = all.begin() + 2 * batch.sequence_starts[b];
      logits[batch.sequence_ids[b]].assign(begin, all.begin() + 2 * batch.sequence_starts[b + 1]);
    }
  });
  return logits;
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

TEST_F(InferenceClientTest, GivesTheBytesOfAnInferenceSession) {
  InferenceSession session(SmallModelFolder::config(), folder_.head(), {});
  session.load(folder_.path());
  InferenceClient client(compiled(folder_, DType::kF32), 1);
  const auto samples = some_samples();
  const Logits expected = span_logits(session, samples);
  EXPECT_EQ(span_logits(client, samples), expected);
  for (size_t i = 0; i < samples.size(); ++i) {  // alone: a program of another size
    EXPECT_EQ(span_logits(client, {samples[i]})[0], expected[i]) << i;
  }
}

TEST_F(InferenceClientTest, RoundedWeightsGiveNearlyTheSame) {
  InferenceClient exact(compiled(folder_, DType::kF32), 1);
  InferenceClient rounded(compiled(folder_, DType::kBF16), 1);
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
  const auto model = compiled(folder_, DType::kF32);
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
  InferenceClient client(compiled(folder_, DType::kF32), 1);
  const data::Sample sample = random_sample(20, 5);
  const Logits expected = span_logits(client, {sample});
  for (size_t count = 1; count < 150; count += 4) {
    const Logits logits = span_logits(client, std::vector<data::Sample>(count, sample));
    EXPECT_EQ(logits.back(), expected[0]) << count;
  }
}

TEST_F(InferenceClientTest, RefusesWhatTheModelCannotRead) {
  InferenceClient client(compiled(folder_, DType::kF32), 1);
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

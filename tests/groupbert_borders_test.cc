// GroupBERT's convolution reads the tokens beside a token: never those of another sequence.
#include <gtest/gtest.h>

#include "feed/micro_batch_inputs.h"
#include "models/bert_heads.h"
#include "small_model.h"
#include "trained_weights.h"

namespace cloze::tests {
namespace {

// With slots left over.
const data::MicroBatchCapacity kCapacity{.tokens = 50, .sequences = 8, .predictions = 44};

// Of every position, in order: [tokens, vocabulary].
std::vector<float> logits_of(engine::Session& session, std::vector<data::Sample> samples) {
  for (data::Sample& sample : samples) {
    sample.masked_positions.clear();
    for (size_t i = 0; i < sample.input_ids.size(); ++i) {
      sample.masked_positions.push_back(static_cast<int32_t>(i));
    }
    sample.masked_labels.assign(sample.input_ids.size(), 0);
  }
  const data::StepBatch batch = data::pack(samples, kCapacity);
  EXPECT_EQ(batch.micro_batches.size(), 1u);
  feed::write_micro_batch(session, batch.micro_batches.front());
  session.run(graph::kMicroStep);
  return session.read<float>("prediction_logits");
}

class Borders : public testing::TestWithParam<const char*> {};

TEST_P(Borders, NoTokenReachesAnotherSequence) {
  graph::Graph graph;
  models::bert_for_inference(graph, as_groupbert(small_model()), {},
                             {kCapacity.tokens, kCapacity.sequences, kCapacity.predictions});
  engine::Session session(std::move(graph), {.device = GetParam(), .target = {.threads = 2}});
  session.initialize_parameters(5);
  session.refresh();
  std::vector<data::Sample> samples;
  for (const size_t length : {9, 1, 2, 17, 3, 12}) {
    samples.push_back({.input_ids = std::vector<int32_t>(length, 7),
                       .token_type_ids = std::vector<int32_t>(length, 0)});
  }
  const std::vector<float> before = logits_of(session, samples);
  const auto width = static_cast<size_t>(small_model().vocab_size);
  size_t begin = 0;
  for (data::Sample& sample : samples) {
    const size_t end = begin + sample.input_ids.size();
    for (int32_t& id : sample.input_ids) {
      id = 50;
      const std::vector<float> after = logits_of(session, samples);
      id = 7;
      for (size_t row = 0; row < before.size() / width; ++row) {
        const bool is_same =
            std::equal(before.begin() + row * width, before.begin() + (row + 1) * width,
                       after.begin() + row * width);
        // All rows of the changed sequence itself differ, because of attention.
        EXPECT_EQ(is_same, row < begin || row >= end) << "row " << row;
      }
    }
    begin = end;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Borders, testing::Values("reference", "cpu"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace cloze::tests

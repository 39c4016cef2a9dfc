#include "data/packer.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

#include "base/error.h"
#include "base/philox.h"

namespace cloze::data {
namespace {

// A sample whose ids name it: `name` * 1000 + index. Every `stride`-th token is masked.
Sample sample_of(int32_t name, int32_t length, int32_t stride) {
  Sample sample;
  for (int32_t i = 0; i < length; ++i) {
    sample.input_ids.push_back(name * 1000 + i);
    sample.token_type_ids.push_back(i * 2 < length ? 0 : 1);
    if (i % stride == stride - 1) {
      sample.masked_positions.push_back(i);
      sample.masked_labels.push_back(name * 1000 + 500 + i);
    }
  }
  sample.next_sentence_label = name % 2;
  return sample;
}

std::vector<Sample> random_samples(size_t count, uint32_t max_length, uint64_t seed) {
  PhiloxStream random(seed, 0);
  std::vector<Sample> samples;
  for (size_t i = 0; i < count; ++i) {
    samples.push_back(
        sample_of(static_cast<int32_t>(i), static_cast<int32_t>(1 + random.below(max_length)), 7));
  }
  return samples;
}

// Reads sequence b of a micro-batch back.
Sample sequence_of(const MicroBatch& batch, size_t b) {
  Sample sample;
  const int32_t begin = batch.sequence_starts[b], end = batch.sequence_starts[b + 1];
  for (int32_t slot = begin; slot < end; ++slot) {
    const auto s = static_cast<size_t>(slot);
    sample.input_ids.push_back(batch.input_ids[s]);
    sample.token_type_ids.push_back(batch.token_type_ids[s]);
    EXPECT_EQ(batch.position_ids[s], slot - begin);
  }
  for (size_t p = 0; p < batch.masked_positions.size(); ++p) {
    if (batch.masked_labels[p] < 0) continue;
    if (batch.masked_positions[p] < begin || batch.masked_positions[p] >= end) continue;
    sample.masked_positions.push_back(batch.masked_positions[p] - begin);
    sample.masked_labels.push_back(batch.masked_labels[p]);
  }
  sample.next_sentence_label = batch.next_sentence_labels[b];
  EXPECT_EQ(batch.first_tokens[b], begin);
  return sample;
}

void expect_unused_marked(const MicroBatch& batch, const MicroBatchCapacity& capacity) {
  ASSERT_EQ(static_cast<int64_t>(batch.input_ids.size()), capacity.tokens);
  ASSERT_EQ(static_cast<int64_t>(batch.sequence_starts.size()), capacity.sequences + 1);
  ASSERT_EQ(static_cast<int64_t>(batch.masked_labels.size()), capacity.predictions);
  for (int64_t t = batch.num_tokens; t < capacity.tokens; ++t) {
    EXPECT_EQ(batch.input_ids[static_cast<size_t>(t)], 0);
  }
  for (int64_t b = batch.num_sequences; b < capacity.sequences; ++b) {
    EXPECT_EQ(batch.sequence_starts[static_cast<size_t>(b) + 1], batch.num_tokens);
    EXPECT_EQ(batch.next_sentence_labels[static_cast<size_t>(b)], -1);
    EXPECT_EQ(batch.first_tokens[static_cast<size_t>(b)], 0);
  }
  for (int64_t p = batch.num_predictions; p < capacity.predictions; ++p) {
    EXPECT_EQ(batch.masked_positions[static_cast<size_t>(p)], 0);
    EXPECT_EQ(batch.masked_labels[static_cast<size_t>(p)], -1);
  }
}

TEST(PackerTest, EverySampleComesBackOnceWhateverTheCapacity) {
  const std::vector<Sample> samples = random_samples(100, 60, 5);
  const MicroBatchCapacity capacities[] = {
      {60, 1, 9}, {64, 3, 12}, {500, 100, 1000}, {10'000, 100, 1000}, {300, 100, 20}};
  for (const MicroBatchCapacity& capacity : capacities) {
    const StepBatch step = pack(samples, capacity);
    std::set<int32_t> seen;
    int64_t tokens = 0, predictions = 0;
    for (const MicroBatch& batch : step.micro_batches) {
      expect_unused_marked(batch, capacity);
      tokens += batch.num_tokens;
      predictions += batch.num_predictions;
      for (size_t b = 0; b < static_cast<size_t>(batch.num_sequences); ++b) {
        const int32_t ordinal = batch.sample_ids[static_cast<size_t>(batch.sequence_starts[b])];
        EXPECT_TRUE(seen.insert(ordinal).second) << "sample " << ordinal << " twice";
        const Sample& expected = samples[static_cast<size_t>(ordinal)];
        const Sample packed = sequence_of(batch, b);
        EXPECT_EQ(packed.input_ids, expected.input_ids);
        EXPECT_EQ(packed.token_type_ids, expected.token_type_ids);
        EXPECT_EQ(packed.masked_positions, expected.masked_positions);
        EXPECT_EQ(packed.masked_labels, expected.masked_labels);
        EXPECT_EQ(packed.next_sentence_label, expected.next_sentence_label);
      }
    }
    EXPECT_EQ(seen.size(), samples.size());
    EXPECT_EQ(step.num_tokens, tokens);
    EXPECT_EQ(step.num_sequences, 100);
    EXPECT_EQ(step.num_predictions, predictions);
  }
}

TEST(PackerTest, TheExampleOfTheHeader) {
  std::vector<Sample> samples;
  for (int32_t length : {7, 3, 5, 2, 6, 1}) {
    samples.push_back(sample_of(static_cast<int32_t>(samples.size()), length, 100));
  }
  const StepBatch step = pack(samples, {12, 6, 1});
  ASSERT_EQ(step.micro_batches.size(), 2u);
  EXPECT_EQ(step.micro_batches[0].sample_ids,
            (std::vector<int32_t>{0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 2}));
  EXPECT_EQ(step.micro_batches[1].sample_ids,
            (std::vector<int32_t>{1, 1, 1, 3, 3, 4, 4, 4, 4, 4, 4, 5}));
}

// By hand: of three sequences with 2, 1 and no predictions two have a mean.
TEST(PackerTest, PredictionWeightsMakeTheMeanOfMeans) {
  const std::vector<Sample> samples{sample_of(0, 6, 3), sample_of(1, 5, 3), sample_of(2, 2, 3)};
  const StepBatch step = pack(samples, {6, 2, 4});
  std::map<int32_t, float> weights;  // by label
  for (const MicroBatch& batch : step.micro_batches) {
    ASSERT_EQ(batch.prediction_weights.size(), 4u);
    for (size_t p = 0; p < 4; ++p) {
      if (batch.masked_labels[p] < 0) {
        EXPECT_EQ(batch.prediction_weights[p], 0.0f);
      } else {
        weights[batch.masked_labels[p]] = batch.prediction_weights[p];
      }
    }
  }
  EXPECT_EQ(weights, (std::map<int32_t, float>{{502, 0.25f}, {505, 0.25f}, {1502, 0.5f}}));
}

TEST(PackerTest, BytesAreThoseOfAllArrays) {
  const MicroBatchCapacity capacity{.tokens = 100, .sequences = 7, .predictions = 20};
  const StepBatch step = pack(random_samples(5, 20, 1), capacity);
  ASSERT_EQ(step.micro_batches.size(), 1u);
  const MicroBatch& b = step.micro_batches[0];
  EXPECT_EQ(b.capacity(), capacity);
  int64_t bytes = 0;
  for (const auto* values :
       {&b.input_ids, &b.token_type_ids, &b.position_ids, &b.sample_ids, &b.sequence_starts,
        &b.first_tokens, &b.masked_positions, &b.masked_labels, &b.next_sentence_labels,
        &b.sequence_ids, &b.class_labels, &b.start_positions, &b.end_positions, &b.num_choices}) {
    bytes += std::ssize(*values) * static_cast<int64_t>(sizeof(int32_t));
  }
  for (const auto* values : {&b.prediction_weights, &b.scores}) {
    bytes += std::ssize(*values) * static_cast<int64_t>(sizeof(float));
  }
  EXPECT_EQ(capacity.bytes(), bytes);
}

// Samples of one sequence among those of several: each sequence has positions and a number of its
// own, and the sequences of a sample follow one another.
TEST(PackerTest, TheChoicesOfASampleStayTogether) {
  std::vector<Sample> samples;
  for (int32_t name = 0; name < 40; ++name) {
    Sample& sample = samples.emplace_back();
    int32_t begin = 0;
    for (int32_t choice = 0; choice < name % 5; ++choice) {
      const int32_t length = 1 + (7 * name + 3 * choice) % 9;
      sample.choice_lengths.push_back(length);
      begin += length;
    }
    sample.input_ids.assign(static_cast<size_t>(begin == 0 ? 4 : begin), name);
    sample.token_type_ids.assign(sample.input_ids.size(), 0);
    if (begin == 0) continue;
    sample.masked_positions = {0};
    sample.masked_labels = {name % static_cast<int32_t>(sample.choice_lengths.size())};
  }
  const StepBatch step = pack(samples, {.tokens = 60, .sequences = 12, .predictions = 7});
  EXPECT_EQ(step.num_samples, 40);
  EXPECT_EQ(step.num_sequences, 8 * (1 + 1 + 2 + 3 + 4));
  std::set<int32_t> seen;
  for (const MicroBatch& batch : step.micro_batches) {
    int64_t sequence = 0;
    for (int64_t p = 0; sequence < batch.num_sequences;) {
      const auto slot = static_cast<size_t>(batch.first_tokens[static_cast<size_t>(sequence)]);
      const int32_t name = batch.input_ids[slot];
      const Sample& sample = samples[static_cast<size_t>(name)];
      EXPECT_TRUE(seen.insert(name).second);
      std::vector<int32_t> lengths = sample.choice_lengths;
      if (lengths.empty()) {
        lengths = {4};
      } else {
        EXPECT_EQ(batch.num_choices[static_cast<size_t>(p)], std::ssize(lengths));
        EXPECT_EQ(batch.masked_labels[static_cast<size_t>(p)], sample.masked_labels[0]);
        ++p;
      }
      const int32_t first_ordinal = batch.sequence_ids[static_cast<size_t>(sequence)];
      for (size_t i = 0; i < lengths.size(); ++i, ++sequence) {
        const auto b = static_cast<size_t>(sequence);
        ASSERT_EQ(batch.sequence_starts[b + 1] - batch.sequence_starts[b], lengths[i]);
        EXPECT_EQ(batch.sequence_ids[b], first_ordinal + static_cast<int32_t>(i));
        for (int32_t t = 0; t < lengths[i]; ++t) {
          const auto at = static_cast<size_t>(batch.sequence_starts[b] + t);
          EXPECT_EQ(batch.position_ids[at], t);
          EXPECT_EQ(batch.sample_ids[at], batch.sequence_ids[b]);
          EXPECT_EQ(batch.input_ids[at], name);
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), samples.size());
}

TEST(PackerTest, UsesHardlyMoreMicroBatchesThanTheTokensNeed) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<Sample> samples = random_samples(256, 128, seed);
    int64_t tokens = 0;
    for (const Sample& sample : samples) tokens += static_cast<int64_t>(sample.input_ids.size());
    const StepBatch step = pack(samples, {1024, 256, 256 * 20});
    EXPECT_LE(static_cast<int64_t>(step.micro_batches.size()), (tokens + 1023) / 1024 + 1);
  }
}

// Best fit alone makes 3 3 | 1 1 1 1 | 1 1: the places for sequences run out before the tokens.
TEST(PackerTest, ShortSamplesAreSharedOutWherePlacesForSequencesAreFew) {
  std::vector<Sample> samples;
  for (const int32_t length : {3, 3, 1, 1, 1, 1, 1, 1}) {
    samples.push_back(sample_of(static_cast<int32_t>(samples.size()), length, 3));
  }
  const StepBatch step = pack(samples, {6, 4, 8});
  ASSERT_EQ(step.micro_batches.size(), 2u);
  for (const MicroBatch& batch : step.micro_batches) {
    EXPECT_EQ(batch.num_tokens, 6);
    EXPECT_EQ(batch.num_sequences, 4);
  }
}

TEST(PackerTest, ASampleOverTheCapacityIsAUserErrorWithBothSizes) {
  const std::vector<Sample> samples{sample_of(0, 20, 5)};
  EXPECT_THROW(pack(samples, {20, 1, 3}), UserError);
  EXPECT_THROW(pack(samples, {20, 0, 4}), UserError);
  try {
    pack(samples, {16, 1, 4});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("20 tokens"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("16 tokens"), std::string::npos);
  }
}

}  // namespace
}  // namespace cloze::data

#include "data/records/record_reader.h"

#include <gtest/gtest.h>

#include "data/records/record_encoder.h"
#include "data/records/record_features.h"
#include "formats/tf_example.h"

namespace cloze::data {
namespace {

const Sample kSample{.input_ids = {101, 7, 103, 102, 103, 0, 102},
                     .token_type_ids = {0, 0, 0, 0, 1, 1, 1},
                     .masked_positions = {2, 4, 5},
                     .masked_labels = {8, 9, 10},
                     .next_sentence_label = 1};

Result<Sample> read(const std::string& bytes, const RecordShape& shape) {
  const auto example = formats::TfExample::parse(std::as_bytes(std::span(bytes)));
  if (!example) return example.error();
  return read_record(*example, shape);
}

void expect_equal(const Sample& a, const Sample& b) {
  EXPECT_EQ(a.input_ids, b.input_ids);
  EXPECT_EQ(a.token_type_ids, b.token_type_ids);
  EXPECT_EQ(a.masked_positions, b.masked_positions);
  EXPECT_EQ(a.masked_labels, b.masked_labels);
  EXPECT_EQ(a.next_sentence_label, b.next_sentence_label);
}

std::string refusal(const std::string& bytes, const RecordShape& shape) {
  const auto result = read(bytes, shape);
  return result ? "accepted" : result.error().message;
}

TEST(RecordReaderTest, BothLayoutsGiveTheSampleBack) {
  for (bool remask : {false, true}) {
    const std::string bytes =
        encode_record(kSample, {.sequence_length = 12, .max_predictions = 5, .remask = remask});
    const auto sample =
        read(bytes, {.sequence_length = 12, .max_predictions = 5, .vocabulary_size = 104});
    ASSERT_TRUE(sample) << sample.error().message;
    expect_equal(*sample, kSample);
  }
}

TEST(RecordReaderTest, RefusalsSayBothValues) {
  const std::string plain = encode_record(kSample, {.sequence_length = 12, .max_predictions = 5});
  const std::string remasked =
      encode_record(kSample, {.sequence_length = 12, .max_predictions = 5, .remask = true});
  EXPECT_EQ(refusal(plain, {.sequence_length = 128}),
            "input_ids has 12 entries, the configuration's seq_length is 128");
  EXPECT_EQ(refusal(plain, {.max_predictions = 20}),
            "masked_lm_positions has 5 entries, the configuration's max_predictions_per_seq is 20");
  EXPECT_EQ(refusal(remasked, {.max_predictions = 20}),
            "masked_labels has 5 entries, the configuration's max_predictions_per_seq is 20");
  EXPECT_EQ(refusal(plain, {.vocabulary_size = 103}),
            "input_ids holds 103; it must be in [0, 103)");
  EXPECT_EQ(refusal(plain, {.static_mask = true}),
            "the record is plain, the configuration says static_mask true; change static_mask");
  EXPECT_EQ(
      refusal(remasked, {.static_mask = false}),
      "the record is re-masked, the configuration says static_mask false; change static_mask");
  EXPECT_EQ(refusal("junk", {}), "the bytes are not a tf.train.Example");
  EXPECT_EQ(refusal("", {}), "feature input_ids is missing or holds no integers");
}

// The features of a right plain record of S = 4, M = 2, one of which a test replaces.
struct PlainFeatures {
  std::vector<int32_t> ids{101, 5, 102, 0}, mask{1, 1, 1, 0}, segments{0, 0, 1, 0}, positions{1, 0},
      labels{6, 0}, next{0};
  std::vector<float> weights{1, 0};

  std::string encode() const {
    formats::TfExample example;
    example.add_integers(feature::kInputIds, ids);
    example.add_integers(feature::kInputMask, mask);
    example.add_integers(feature::kSegmentIds, segments);
    example.add_integers(feature::kMaskedPositions, positions);
    example.add_integers(feature::kMaskedIds, labels);
    example.add_floats(feature::kMaskedWeights, weights);
    example.add_integers(feature::kNextSentenceLabels, next);
    return example.serialize();
  }
};

TEST(RecordReaderTest, PlainRecordsAreCheckedValueByValue) {
  EXPECT_EQ(refusal(PlainFeatures{}.encode(), {}), "accepted");
  EXPECT_EQ(refusal(PlainFeatures{.mask = {1, 0, 1, 0}}.encode(), {}), "input_mask has a gap at 1");
  EXPECT_EQ(refusal(PlainFeatures{.mask = {0, 0, 0, 0}}.encode(), {}), "input_mask marks no token");
  EXPECT_EQ(refusal(PlainFeatures{.mask = {1, 1}}.encode(), {}),
            "input_mask has 2 entries, input_ids has 4");
  EXPECT_EQ(refusal(PlainFeatures{.segments = {0, 2, 1, 0}}.encode(), {}),
            "segment_ids holds 2; it must be in [0, 2)");
  EXPECT_EQ(refusal(PlainFeatures{.positions = {3, 0}}.encode(), {}),
            "masked_lm_positions holds 3; it must be in [0, 3)");
  EXPECT_EQ(refusal(PlainFeatures{.positions = {1, 1}, .weights = {1, 1}}.encode(), {}),
            "position 1 is masked twice");
  EXPECT_EQ(refusal(PlainFeatures{.weights = {0.5f, 0}}.encode(), {}),
            "masked_lm_weights holds 0.5, not 0 or 1");
  EXPECT_EQ(refusal(PlainFeatures{.next = {2}}.encode(), {}),
            "next_sentence_labels holds 2; it must be in [0, 2)");
}

TEST(RecordReaderTest, FlippedBitsNeverCrash) {
  for (bool remask : {false, true}) {
    const std::string bytes =
        encode_record(kSample, {.sequence_length = 12, .max_predictions = 5, .remask = remask});
    const RecordShape shape{.sequence_length = 12, .max_predictions = 5, .vocabulary_size = 104};
    for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      std::string damaged = bytes;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      const auto sample = read(damaged, shape);
      if (!sample) continue;
      ASSERT_EQ(sample->input_ids.size(), sample->token_type_ids.size());
      ASSERT_EQ(sample->masked_positions.size(), sample->masked_labels.size());
      for (int32_t position : sample->masked_positions) {
        ASSERT_LT(position, static_cast<int32_t>(sample->input_ids.size()));
      }
    }
  }
}

}  // namespace
}  // namespace cloze::data

#include "data/records/record_encoder.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "data/records/record_features.h"
#include "formats/tf_example.h"

namespace cloze::data {
namespace {

using Ids = std::vector<int64_t>;

const Sample kSample{.input_ids = {101, 7, 103, 102, 103, 102},
                     .token_type_ids = {0, 0, 0, 0, 1, 1},
                     .masked_positions = {2, 4},
                     .masked_labels = {8, 9},
                     .next_sentence_label = 1};

formats::TfExample encoded(const RecordLayout& layout) {
  const std::string bytes = encode_record(kSample, layout);
  return formats::TfExample::parse(std::as_bytes(std::span(bytes.data(), bytes.size()))).value();
}

Ids integers(const formats::TfExample& example, std::string_view name) {
  const auto values = example.integers(name);
  return values ? Ids(values->begin(), values->end()) : Ids{};
}

TEST(RecordEncoderTest, PlainLayout) {
  const auto example = encoded({.sequence_length = 8, .max_predictions = 3});
  EXPECT_EQ(integers(example, feature::kInputIds), (Ids{101, 7, 103, 102, 103, 102, 0, 0}));
  EXPECT_EQ(integers(example, feature::kInputMask), (Ids{1, 1, 1, 1, 1, 1, 0, 0}));
  EXPECT_EQ(integers(example, feature::kSegmentIds), (Ids{0, 0, 0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(integers(example, feature::kMaskedPositions), (Ids{2, 4, 0}));
  EXPECT_EQ(integers(example, feature::kMaskedIds), (Ids{8, 9, 0}));
  EXPECT_EQ(integers(example, feature::kNextSentenceLabels), (Ids{1}));
  const auto weights = *example.floats(feature::kMaskedWeights);
  EXPECT_EQ(std::vector<float>(weights.begin(), weights.end()), (std::vector<float>{1, 1, 0}));
}

TEST(RecordEncoderTest, RemaskedLayout) {
  const auto example = encoded(
      {.sequence_length = 8, .max_predictions = 3, .remask = true, .pad_position_value = 384});
  EXPECT_EQ(integers(example, feature::kInputIds), (Ids{103, 103, 0, 101, 7, 102, 102, 0}));
  EXPECT_EQ(integers(example, feature::kInputPosition), (Ids{2, 4, 384, 0, 1, 3, 5, 384}));
  EXPECT_EQ(integers(example, feature::kSegmentIds), (Ids{0, 1, 0, 0, 0, 0, 1, 0}));
  EXPECT_EQ(integers(example, feature::kMaskPaddingIndex), (Ids{2}));
  EXPECT_EQ(integers(example, feature::kSequencePaddingIndex), (Ids{7}));
  EXPECT_EQ(integers(example, feature::kMaskedPositions), (Ids{2, 4}));
  EXPECT_EQ(integers(example, feature::kMaskedLabels), (Ids{8, 9, 0}));
  EXPECT_EQ(integers(example, feature::kMaskedIds), (Ids{8, 9, 0}));
}

TEST(RecordEncoderTest, TooLongASampleIsAnInternalError) {
  EXPECT_THROW(encode_record(kSample, {.sequence_length = 5}), InternalError);
  EXPECT_THROW(encode_record(kSample, {.max_predictions = 1}), InternalError);
}

}  // namespace
}  // namespace cloze::data

#include "data/generated_dataset.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "data/records/record_encoder.h"
#include "data/records/record_reader.h"

namespace cloze::data {
namespace {

TEST(GeneratedDatasetTest, SamplesAreValidFullAndAFunctionOfTheirNumber) {
  for (int64_t S : {5, 6, 128}) {
    const GeneratedOptions options{
        .sequence_length = S, .max_predictions = S - 3, .vocabulary_size = 200, .seed = 9};
    const GeneratedDataset dataset(options);
    std::set<std::vector<int32_t>> different;
    for (int64_t i = 0; i < 50; ++i) {
      const Sample sample = dataset.sample(i, 0);
      EXPECT_EQ(static_cast<int64_t>(sample.input_ids.size()), S);
      EXPECT_EQ(static_cast<int64_t>(sample.masked_positions.size()), S - 3);
      const std::string bytes =
          encode_record(sample, {.sequence_length = S, .max_predictions = S - 3});
      const auto example = formats::TfExample::parse(std::as_bytes(std::span(bytes)));
      ASSERT_TRUE(example);
      const auto read = read_record(*example, {.sequence_length = S, .vocabulary_size = 200});
      ASSERT_TRUE(read) << read.error().message;
      EXPECT_EQ(dataset.sample(i, 0).masked_labels, sample.masked_labels);
      different.insert(sample.masked_labels);
    }
    EXPECT_EQ(different.size(), 50u);
  }
}

TEST(GeneratedDatasetTest, OtherSamplesHaveAnotherFingerprint) {
  const GeneratedOptions options{
      .sequence_length = 12, .max_predictions = 3, .vocabulary_size = 61};
  GeneratedOptions other = options;
  other.seed = 1;
  EXPECT_EQ(GeneratedDataset(options).fingerprint(), GeneratedDataset(options).fingerprint());
  EXPECT_NE(GeneratedDataset(other).fingerprint(), GeneratedDataset(options).fingerprint());
}

TEST(GeneratedDatasetTest, NonsenseSizesAreRefused) {
  EXPECT_THROW(GeneratedDataset({.sequence_length = 4, .vocabulary_size = 10}), UserError);
  EXPECT_THROW(
      GeneratedDataset({.sequence_length = 20, .max_predictions = 18, .vocabulary_size = 10}),
      UserError);
  EXPECT_THROW(GeneratedDataset({.vocabulary_size = 0}), UserError);
}

}  // namespace
}  // namespace cloze::data

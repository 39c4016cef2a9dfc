#include "tasks/glue/glue_features.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"

namespace cloze::tasks {
namespace {

text::Tokenizer letters() {
  return {text::Vocabulary::from_tokens({"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b"}),
          {}};
}

std::string repeated(const std::string& word, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += word + " ";
  return text;
}

data::Sample sample_of(const char* task, const GlueExample& example, int64_t length) {
  const SequenceSamples features =
      make_glue_features(std::vector<GlueExample>{example}, glue_task(task), letters(),
                         {.max_sequence_length = length});
  return features.samples[0];
}

TEST(GlueFeaturesTest, SingleTextsAndPairs) {
  const data::Sample single = sample_of("CoLA", {.first = "A b", .label = 1.0}, 8);
  EXPECT_EQ(single.input_ids, (std::vector<int32_t>{2, 5, 6, 3}));
  EXPECT_EQ(single.token_type_ids, (std::vector<int32_t>{0, 0, 0, 0}));
  EXPECT_EQ(single.class_label, 1);
  const data::Sample pair = sample_of("STS-B", {.first = "a", .second = "b b", .label = 3.8}, 8);
  EXPECT_EQ(pair.input_ids, (std::vector<int32_t>{2, 5, 3, 6, 6, 3}));
  EXPECT_EQ(pair.token_type_ids, (std::vector<int32_t>{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(pair.score, 3.8f);
  EXPECT_EQ(pair.class_label, -1);
  EXPECT_EQ(sample_of("AX", {.first = "a", .second = ""}, 8).input_ids,
            (std::vector<int32_t>{2, 5, 3, 3}));
}

// Taken off one by one, as the rule says it.
TEST(GlueFeaturesTest, TheLongerTextIsCut) {
  const GlueTask& task = glue_task("RTE");
  for (size_t room = 0; room <= 7; ++room) {
    for (size_t first = 0; first <= 9; ++first) {
      for (size_t second = 0; second <= 9; ++second) {
        size_t a = first, b = second;
        while (a + b > room) --(a > b ? a : b);
        const std::vector<GlueExample> examples{
            {.first = repeated("a", first), .second = repeated("b", second)}};
        const SequenceSamples features = make_glue_features(
            examples, task, letters(), {.max_sequence_length = static_cast<int64_t>(room) + 3});
        const auto& ids = features.samples[0].input_ids;
        EXPECT_EQ(std::count(ids.begin(), ids.end(), 5), static_cast<int64_t>(a));
        EXPECT_EQ(std::count(ids.begin(), ids.end(), 6), static_cast<int64_t>(b));
        EXPECT_EQ(features.num_cut, first + second > room ? 1 : 0);
      }
    }
  }
}

TEST(GlueFeaturesTest, SingleTextsAreCut) {
  EXPECT_EQ(sample_of("SST-2", {.first = repeated("a", 9)}, 5).input_ids,
            (std::vector<int32_t>{2, 5, 5, 5, 3}));
  EXPECT_EQ(sample_of("SST-2", {.first = "a"}, 2).input_ids, (std::vector<int32_t>{2, 3}));
}

TEST(GlueFeaturesTest, TooShortSequencesAreRefused) {
  try {
    sample_of("MRPC", {}, 2);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "max_seq_length is 2; for MRPC it must be from 3 to 2147483647");
  }
}

}  // namespace
}  // namespace cloze::tasks

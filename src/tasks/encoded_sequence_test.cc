#include "tasks/encoded_sequence.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tasks/sequence_sample.h"

namespace cloze::tasks {
namespace {

const text::Tokenizer& tokenizer() {
  static const text::Tokenizer made(
      text::Vocabulary::from_tokens(
          {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##b", "c"}),
      {});
  return made;
}

TEST(EncodedSequenceTest, EachTokenHasItsPlaceInItsOwnText) {
  const EncodedSequence made = encoded_sequence("\u00e9 AB", "c\xff a", tokenizer(), {});
  EXPECT_EQ(made.ids, (std::vector<int32_t>{2, 1, 5, 6, 3, 7, 5, 3}));
  EXPECT_EQ(made.types, (std::vector<int32_t>{0, 0, 0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(made.bytes, (std::vector<text::Offset>{
                            {0, 0}, {0, 2}, {3, 4}, {4, 5}, {0, 0}, {0, 1}, {3, 4}, {0, 0}}));
  EXPECT_EQ(made.is_border, (std::vector<uint8_t>{1, 0, 0, 0, 1, 0, 0, 1}));
  EXPECT_EQ(made.num_invalid, 1u);
}

TEST(EncodedSequenceTest, WithoutBordersItHasTheTextsAlone) {
  const EncodedSequence made = encoded_sequence("a", "c", tokenizer(), {.has_borders = false});
  EXPECT_EQ(made.ids, (std::vector<int32_t>{5, 7}));
  EXPECT_EQ(made.types, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(encoded_sequence("", std::nullopt, tokenizer(), {.has_borders = false}).ids.size(), 0u);
}

TEST(EncodedSequenceTest, ItIsCutAsWhatAModelReads) {
  const std::string texts[] = {"", "a", "ab ab c", "c c c c c c c c c c"};
  for (const std::string& first : texts) {
    for (const std::string& second : texts) {
      for (int64_t length = 3; length < 20; ++length) {
        const auto made = encoded_sequence(first, second, tokenizer(), {.max_length = length});
        const SequenceSample sample = sequence_sample(first, second, tokenizer(), length);
        EXPECT_EQ(made.ids, sample.sample.input_ids);
        EXPECT_EQ(made.types, sample.sample.token_type_ids);
        EXPECT_EQ(made.texts.tokens, sample.texts.tokens);
        EXPECT_EQ(made.texts.kept, sample.texts.kept);
        const auto alone = encoded_sequence(first, {}, tokenizer(), {.max_length = length});
        EXPECT_EQ(alone.ids, sequence_sample(first, {}, tokenizer(), length).sample.input_ids);
      }
    }
  }
}

TEST(SequenceSampleTest, TheStartIsCutWhereThatIsAskedFor) {
  const auto ids = [](std::optional<std::string_view> second, int64_t length) {
    return sequence_sample("a c c", second, tokenizer(), length, CutSide::kStart).sample.input_ids;
  };
  EXPECT_EQ(ids({}, 5), (std::vector<int32_t>{2, 5, 7, 7, 3}));
  EXPECT_EQ(ids({}, 4), (std::vector<int32_t>{2, 7, 7, 3}));
  EXPECT_EQ(ids("c ab", 6), (std::vector<int32_t>{2, 7, 7, 3, 6, 3}));
  EXPECT_EQ(ids({}, 2), (std::vector<int32_t>{2, 3}));
}

TEST(EncodedSequenceTest, TheBordersHaveToFit) {
  try {
    encoded_sequence("a", "c", tokenizer(), {.max_length = 2});
    FAIL() << "taken";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "2 tokens hold no sequence; give 3 or more");
  }
}

}  // namespace
}  // namespace cloze::tasks

#include "tasks/tagging/tag_aggregation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace cloze::tasks {
namespace {

using Tags = std::vector<std::string>;

// Pieces of two bytes each, one after the other.
class TagAggregationTest : public testing::Test {
 protected:
  void add(bool continues_word, std::vector<double> probabilities) {
    const auto begin = static_cast<uint32_t>(2 * pieces_.size());
    pieces_.push_back({.bytes = {begin, begin + 2},
                       .continues_word = continues_word,
                       .probabilities = std::move(probabilities)});
  }
  // "PER 0-4 0.850 LOC 4-6 0.900"
  std::string said(TagAggregation aggregation, const Tags& tags) const {
    std::string all;
    for (const TagPart& part : tag_parts(pieces_, tags, aggregation)) {
      all += fmt::format("{}{} {}-{} {:.3f}", all.empty() ? "" : " ", part.tag, part.bytes.begin,
                         part.bytes.end, part.probability);
    }
    return all;
  }

  std::vector<TagPiece> pieces_;
};

const Tags kEntities{"O", "B-PER", "I-PER", "B-LOC", "I-LOC"};

TEST_F(TagAggregationTest, AWordHasTheTagThatItsPiecesShare) {
  add(false, {0.1, 0.6, 0.2, 0.1, 0.0});
  add(true, {0.1, 0.0, 0.2, 0.7, 0.0});
  add(true, {0.5, 0.3, 0.0, 0.2, 0.0});
  add(false, {0.2, 0.0, 0.8, 0.0, 0.0});
  EXPECT_EQ(said(TagAggregation::kNone, kEntities),
            "B-PER 0-2 0.600 B-LOC 2-4 0.700 I-PER 6-8 0.800");
  EXPECT_EQ(said(TagAggregation::kSimple, kEntities), "PER 0-2 0.600 LOC 2-4 0.700 PER 6-8 0.800");
  EXPECT_EQ(said(TagAggregation::kFirst, kEntities), "PER 0-8 0.700");
  EXPECT_EQ(said(TagAggregation::kAverage, kEntities), "LOC 0-6 0.333 PER 6-8 0.800");
  EXPECT_EQ(said(TagAggregation::kMax, kEntities), "LOC 0-6 0.700 PER 6-8 0.800");
}

TEST_F(TagAggregationTest, OnlyABeginningSplitsWhatIsOfOneType) {
  add(false, {0, 1, 0, 0, 0});
  add(false, {0, 0, 0.5, 0, 0});
  add(false, {0, 1, 0, 0, 0});
  add(false, {0, 0, 0, 0, 1});
  add(false, {1, 0, 0, 0, 0});
  add(false, {0, 0, 1, 0, 0});
  EXPECT_EQ(said(TagAggregation::kFirst, kEntities),
            "PER 0-4 0.750 PER 4-6 1.000 LOC 6-8 1.000 PER 10-12 1.000");
}

TEST_F(TagAggregationTest, EndsAndSinglesCloseAnEntity) {
  const Tags tags{"O", "B-X", "L-X", "U-X"};
  for (const size_t tag : {1, 2, 2, 3, 3}) {
    std::vector<double> probabilities(4);
    probabilities[tag] = 1.0;
    add(false, probabilities);
  }
  EXPECT_EQ(said(TagAggregation::kFirst, tags), "X 0-4 1.000 X 4-6 1.000 X 6-8 1.000 X 8-10 1.000");
}

TEST_F(TagAggregationTest, WordsWithoutASchemeAreNotJoined) {
  const Tags tags{"NOUN", "VERB"};
  add(false, {1, 0});
  add(true, {1, 0});
  add(true, {0, 1});
  add(false, {0, 1});
  EXPECT_EQ(said(TagAggregation::kFirst, tags), "NOUN 0-6 1.000 VERB 6-8 1.000");
  EXPECT_EQ(said(TagAggregation::kSimple, tags), "NOUN 0-4 1.000 VERB 4-6 1.000 VERB 6-8 1.000");
}

TEST_F(TagAggregationTest, AnEntityWithoutATypeHasItsOwnName) {
  add(false, {0, 1, 0});
  add(false, {0, 0, 1});
  EXPECT_EQ(said(TagAggregation::kFirst, {"O", "B", "I"}), "_ 0-4 1.000");
  EXPECT_EQ(tags_line(tag_parts(pieces_, {"O", "B", "I"}, TagAggregation::kFirst), "abcd"),
            "_ abcd");
  EXPECT_EQ(said(TagAggregation::kMax, {"O", "O", "O"}), "");
  pieces_.clear();
  EXPECT_EQ(said(TagAggregation::kMax, kEntities), "");
}

TEST_F(TagAggregationTest, ANameStandsForEach) {
  for (const std::string_view name : kTagAggregations) {
    EXPECT_EQ(kTagAggregations[static_cast<size_t>(*tag_aggregation(name))], name);
  }
  EXPECT_FALSE(tag_aggregation("last"));
}

}  // namespace
}  // namespace cloze::tasks

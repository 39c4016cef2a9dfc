#include "tasks/tagging/tag_prediction_scores.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "platform/files/atomic_file.h"
#include "platform/files/own_folder_test.h"

namespace cloze::tasks {
namespace {

class TagPredictionScoresTest : public platform::OwnFolderTest {
 protected:
  std::filesystem::path written(const std::string& name, const std::string& text) {
    platform::write_file_atomically(folder_ / name, text);
    return folder_ / name;
  }
  double f1(const TagFiles& files, EntityReading reading = EntityReading::kLenient) {
    return score_tag_predictions(files, reading).at("micro").at("f1").get<double>();
  }
  std::string refusal(const TagFiles& files, EntityReading reading = EntityReading::kLenient) {
    try {
      return score_tag_predictions(files, reading).dump();
    } catch (const DataError& error) {
      std::string message = error.what();
      const std::string folder = folder_.string() + "/";
      for (size_t at; (at = message.find(folder)) != message.npos;)
        message.erase(at, folder.size());
      return message;
    }
  }
};

TEST_F(TagPredictionScoresTest, GoldBesidePredictedTags) {
  EXPECT_EQ(
      f1({.predictions = written("p",
                                 "-DOCSTART- O O\n\nAnn NNP B-PER B-PER\r\nLee NNP I-PER I-PER\n\n"
                                 "\nRome NNP B-LOC O\n")}),
      2.0 / 3);
  EXPECT_EQ(f1({.predictions = written("p", "New York\tB-LOC\tB-LOC\n\n\n")}), 1.0);
}

TEST_F(TagPredictionScoresTest, GoldInAFileOfItsOwn) {
  const TagFiles files{.predictions = written("p", "Ann B-PER\nLee O\n\nRome B-LOC\n"),
                       .gold = written("g", "Ann\tB-PER\nLee\tI-PER\n\nRome\tB-LOC")};
  EXPECT_EQ(f1(files), 0.5);
}

TEST_F(TagPredictionScoresTest, TokensWithoutAKnownTagAreLeftOut) {
  const TagFiles files{.predictions = written("p", "Ann\tB-PER\tB-PER\nLee\t_\tB-LOC\n")};
  EXPECT_EQ(f1(files), 1.0);
  EXPECT_EQ(score_tag_predictions(files, EntityReading::kIob2).at("accuracy").get<double>(), 1.0);
}

TEST_F(TagPredictionScoresTest, StrictlyWhatBeginsWithIIsNoEntity) {
  const TagFiles files{.predictions = written("p", "Ann I-PER I-PER\nRome B-LOC B-LOC\n")};
  EXPECT_EQ(score_tag_predictions(files, EntityReading::kLenient).at("types").size(), 2u);
  EXPECT_EQ(score_tag_predictions(files, EntityReading::kIob2).at("types").size(), 1u);
}

TEST_F(TagPredictionScoresTest, Errors) {
  EXPECT_EQ(refusal({.predictions = written("p", "\n\n")}), "p: holds no tags");
  EXPECT_EQ(refusal({.predictions = written("p", "Ann O O\nLee O\n")}),
            "p:2: has 2 columns; it needs a token, its gold tag and its predicted tag");
  const std::filesystem::path gold = written("g", "Ann O\n\nRome O\n");
  EXPECT_EQ(refusal({.predictions = written("p", "Ann\n"), .gold = gold}),
            "p:1: has 1 columns; it needs a token and its tag");
  EXPECT_EQ(refusal({.predictions = written("p", "Ann O\nLee O\n"), .gold = gold}),
            "p and g differ: sentence 1 has 2 tokens and 1");
  EXPECT_EQ(refusal({.predictions = written("p", "Ann O\n"), .gold = gold}),
            "p and g differ: 1 and 2 sentences");
  EXPECT_EQ(refusal({.predictions = written("p", "Ann O S-A\n")}, EntityReading::kIob2),
            "p: tag 'S-A' is none of IOB2: its tags begin with one of the letters IOB");
}

}  // namespace
}  // namespace cloze::tasks

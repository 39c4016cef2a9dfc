#include "tasks/labelled/label_set_scores.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/philox.h"

namespace cloze::tasks {
namespace {

using Row = LabelSetPrediction;

// The figures of scikit-learn 1.5.
TEST(LabelSetScoresTest, KnownFigures) {
  const std::vector<Row> rows{{{true, false, true}, {true, true, false}, {0.9, 0.6, 0.2}},
                              {{false, false, false}, {false, false, false}, {0.1, 0.2, 0.3}},
                              {{false, true, false}, {false, true, false}, {0.7, 0.7, 0.1}}};
  const LabelSetScores scores = score_label_sets(rows);
  EXPECT_NEAR(scores.labels[0].f1, 1.0, 1e-12);
  EXPECT_NEAR(scores.labels[1].precision, 0.5, 1e-12);
  EXPECT_EQ(scores.labels[2].f1, 0.0);
  EXPECT_NEAR(scores.means.micro.f1, 4.0 / 6, 1e-12);
  EXPECT_NEAR(scores.means.macro.f1, (1.0 + 2.0 / 3) / 3, 1e-12);
  EXPECT_EQ(scores.means.macro.support, 3);
  EXPECT_NEAR(scores.samples.f1, (0.5 + 0.0 + 1.0) / 3, 1e-12);
  EXPECT_EQ(scores.samples.support, 3);
  EXPECT_NEAR(scores.subset_accuracy, 2.0 / 3, 1e-12);
  EXPECT_NEAR(scores.hamming_loss, 2.0 / 9, 1e-12);
  // Row 1: 1/1 and 2/3; row 2 has no label; row 3: two labels are as probable, one is gold.
  EXPECT_NEAR(*scores.ranking_precision, ((1.0 + 2.0 / 3) / 2 + 1.0 + 0.5) / 3, 1e-12);
}

TEST(LabelSetScoresTest, LabelsAboveTheirThresholds) {
  const std::vector<double> thresholds{0.5, 0.5, 0.2};
  EXPECT_EQ(labels_above(thresholds, std::vector<double>{0.5, 0.51, 0.3}),
            (std::vector<bool>{false, true, true}));
}

TEST(LabelSetScoresTest, WithoutProbabilitiesNoRanking) {
  const std::vector<Row> rows{{{true}, {true}, {}}, {{false}, {true}, {}}};
  const LabelSetScores scores = score_label_sets(rows);
  EXPECT_FALSE(scores.ranking_precision);
  const std::vector<std::string> names{"a"};
  const formats::Json json = label_set_scores_json(scores, names);
  EXPECT_FALSE(json.contains("label_ranking_average_precision"));
  EXPECT_EQ(json.at("labels").at("a").dump(),
            R"({"precision":0.5,"recall":1.0,"f1":0.6666666666666666,"support":1})");
}

// The rank of a label is the number of labels that are at least as probable; a row's precision is
// the mean over its gold labels of (rank among the gold ones) / rank.
TEST(LabelSetScoresTest, RankingPrecisionIsTheDefinition) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    PhiloxStream random(seed, 0);
    Row row;
    std::vector<double> gold;
    for (uint32_t i = 2 + random.below(6); i > 0; --i) {
      row.gold.push_back(random.below(2) == 1);
      row.predicted.push_back(false);
      row.probabilities.push_back(random.below(4) / 4.0);
      if (row.gold.back()) gold.push_back(row.probabilities.back());
    }
    const auto rank = [](const std::vector<double>& of, double value) {
      return static_cast<double>(std::ranges::count_if(of, [&](double o) { return o >= value; }));
    };
    double expected = 1.0;
    if (!gold.empty() && gold.size() < row.gold.size()) {
      expected = 0.0;
      for (const double one : gold) {
        expected +=
            rank(gold, one) / rank(row.probabilities, one) / static_cast<double>(gold.size());
      }
    }
    ASSERT_NEAR(*score_label_sets(std::vector<Row>{row}).ranking_precision, expected, 1e-12)
        << seed;
  }
}

}  // namespace
}  // namespace cloze::tasks

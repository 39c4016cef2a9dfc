#include "data/inspection/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cloze::data {
namespace {

// Labels 5, 5, 5 and one that no vocabulary has, in turn; lengths 4 and 6 in turn.
class TinyDataset final : public Dataset {
 public:
  int64_t size() const override { return 10'000; }
  std::string fingerprint() const override { return "tiny"; }
  Sample sample(int64_t index, int64_t /*epoch*/) const override {
    const size_t length = index % 2 == 0 ? 4 : 6;
    return {.input_ids = std::vector<int32_t>(length, 1),
            .token_type_ids = std::vector<int32_t>(length, 0),
            .masked_positions = {1},
            .masked_labels = {index % 4 == 3 ? 2'000'000'000 : 5},
            .next_sentence_label = static_cast<int32_t>(index % 2)};
  }
};

TEST(StatisticsTest, CountsAndEntropyForAnyNumberOfThreads) {
  for (int threads : {1, 3}) {
    const DatasetStatistics statistics = measure(TinyDataset(), threads, [](int64_t) {});
    EXPECT_EQ(statistics.records, 10'000);
    EXPECT_EQ(statistics.mean_length(), 5.0);
    EXPECT_EQ(statistics.lengths.counts, (std::vector<int64_t>{0, 0, 0, 0, 5'000, 0, 5'000}));
    EXPECT_EQ(statistics.mean_predictions(), 1.0);
    EXPECT_EQ(statistics.random_next, 5'000);
    EXPECT_DOUBLE_EQ(statistics.unigram_entropy, -(0.75 * std::log(0.75) + 0.25 * std::log(0.25)));
  }
}

// Ten masked positions: seven hold [MASK] (3), one its label, two any other id.
class MaskedDataset final : public Dataset {
 public:
  int64_t size() const override { return 10; }
  std::string fingerprint() const override { return "masked"; }
  Sample sample(int64_t index, int64_t /*epoch*/) const override {
    const int32_t id = index < 7 ? 3 : index == 7 ? 20 : static_cast<int32_t>(30 + index);
    return {.input_ids = {1, id, 2},
            .token_type_ids = {0, 0, 0},
            .masked_positions = {1},
            .masked_labels = {20}};
  }
};

TEST(StatisticsTest, UnknownTokensCountAsWhatTheyWere) {
  const auto unknown = [](int32_t id) {
    return measure(
               MaskedDataset(), 2, [](int64_t) {}, id)
        .unknown;
  };
  EXPECT_EQ(unknown(1), 10);
  EXPECT_EQ(unknown(20), 10) << "masked";
  EXPECT_EQ(unknown(3), 0) << "the mask";
  EXPECT_EQ(measure(MaskedDataset(), 2, [](int64_t) {}).unknown, 0);
}

TEST(StatisticsTest, MaskedPositionsByWhatTheyHold) {
  const DatasetStatistics statistics = measure(MaskedDataset(), 2, [](int64_t) {});
  EXPECT_EQ(statistics.mask_id, 3);
  EXPECT_EQ(statistics.masked_by_mask, 7);
  EXPECT_EQ(statistics.masked_unchanged, 1);
}

}  // namespace
}  // namespace cloze::data

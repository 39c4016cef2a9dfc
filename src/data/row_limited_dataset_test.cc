#include "data/row_limited_dataset.h"

#include <gtest/gtest.h>

namespace cloze::data {
namespace {

// Sample i: the ids i, i + 1 and, after a mask with id 4, i + 2.
class CountingDataset final : public Dataset {
 public:
  int64_t size() const override { return 8; }
  Sample sample(int64_t index, int64_t epoch) const override {
    const auto first = static_cast<int32_t>(index + epoch);
    return {.input_ids = {first, first + 1, 4},
            .token_type_ids = {0, 0, 0},
            .masked_positions = {2},
            .masked_labels = {first + 2}};
  }
  std::string fingerprint() const override { return "counting"; }
};

const RowLimitedDataset kLimited(std::make_shared<CountingDataset>(), {.rows = 8, .unknown_id = 1});

TEST(RowLimitedDataset, IdsWithoutARowBecomeUnknown) {
  EXPECT_EQ(kLimited.size(), 8);
  EXPECT_EQ(kLimited.fingerprint(), "counting, ids from 8 on read as 1");
  const Sample within = kLimited.sample(5, 0);
  EXPECT_EQ(within.input_ids, (std::vector<int32_t>{5, 6, 4}));
  EXPECT_EQ(within.masked_labels, std::vector<int32_t>{7});
  const Sample beyond = kLimited.sample(6, 1);
  EXPECT_EQ(beyond.input_ids, (std::vector<int32_t>{7, 1, 4}));
  EXPECT_EQ(beyond.masked_labels, std::vector<int32_t>{1});
}

}  // namespace
}  // namespace cloze::data

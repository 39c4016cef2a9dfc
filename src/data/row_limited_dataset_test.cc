#include "data/row_limited_dataset.h"

#include <gtest/gtest.h>

#include "data/counting_dataset_test.h"

namespace cloze::data {
namespace {

const RowLimitedDataset kLimited(std::make_shared<CountingDataset>(8),
                                 {.rows = 8, .unknown_id = 1});

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

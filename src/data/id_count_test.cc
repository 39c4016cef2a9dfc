#include "data/id_count.h"

#include <gtest/gtest.h>

#include "data/counting_dataset_test.h"

namespace cloze::data {
namespace {

TEST(IdCountTest, CountsWhatTheTextHolds) {
  const CountingDataset data(8);
  const auto is_large = [](int32_t id) { return id >= 8; };
  const IdCount all = count_ids(data, 100, is_large);
  EXPECT_EQ(all.samples, 8);
  EXPECT_EQ(all.tokens, 24);
  EXPECT_EQ(all.found, 3);                            // 8 in sample 6, 8 and 9 in sample 7
  const IdCount half = count_ids(data, 4, is_large);  // samples 0, 2, 4, 6
  EXPECT_EQ(half.samples, 4);
  EXPECT_EQ(half.tokens, 12);
  EXPECT_EQ(half.found, 1);
  EXPECT_EQ(count_ids(data, 100, [](int32_t id) { return id == 4; }).found, 3)
      << "the mask is not in the text";
  EXPECT_EQ(count_ids(CountingDataset(0), 100, is_large).tokens, 0);
}

class OfOneSample final : public Dataset {
 public:
  explicit OfOneSample(int32_t first) : first_(first) {}
  int64_t size() const override { return 1; }
  Sample sample(int64_t, int64_t) const override { return {.input_ids = {first_, 7}}; }
  std::string fingerprint() const override { return "one"; }

 private:
  int32_t first_;
};

TEST(IdCountTest, UnknownComesBeforeTheFirstToken) {
  EXPECT_EQ(likely_unknown_id(OfOneSample(101)), 100) << "as in the published vocabularies";
  EXPECT_EQ(likely_unknown_id(OfOneSample(0)), -1);
  EXPECT_EQ(likely_unknown_id(CountingDataset(0)), -1);
}

}  // namespace
}  // namespace cloze::data

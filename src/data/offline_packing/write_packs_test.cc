#include "data/offline_packing/write_packs.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "data/records/record_dataset.h"
#include "platform/files/atomic_file.h"
#include "platform/files/folder.h"
#include "platform/files/input_paths.h"

namespace cloze::data {
namespace {

namespace fs = std::filesystem;

constexpr RecordShape kShape{.sequence_length = 48, .max_predictions = 5, .vocabulary_size = 99};

// Samples of 5 to 48 tokens, whose first token is never masked.
class Lengths : public Dataset {
 public:
  int64_t size() const override { return 500; }
  Sample sample(int64_t index, int64_t /*epoch*/) const override {
    Sample sample{.next_sentence_label = static_cast<int32_t>(index % 2)};
    const auto length = static_cast<int32_t>(5 + index * 7 % 44);
    for (int32_t i = 0; i < length; ++i) {
      sample.input_ids.push_back(static_cast<int32_t>((index + i) % 99));
      sample.token_type_ids.push_back(2 * i > length ? 1 : 0);
      if (i % 10 != 4) continue;
      sample.masked_positions.push_back(i);
      sample.masked_labels.push_back(i);
    }
    return sample;
  }
  std::string fingerprint() const override { return "lengths"; }
};

HistogramPacking packing_of(const Dataset& dataset, PackingAlgorithm algorithm) {
  LengthHistogram histogram;
  for (int64_t i = 0; i < dataset.size(); ++i) {
    histogram.add(std::ssize(dataset.sample(i, 0).input_ids));
  }
  return pack_histogram(histogram, algorithm, {.pack_tokens = 48});
}

std::vector<std::vector<int32_t>> contents(const Dataset& dataset) {
  std::vector<std::vector<int32_t>> all;
  for (int64_t i = 0; i < dataset.size(); ++i) {
    const Sample sample = dataset.sample(i, 0);
    std::vector<int32_t>& content = all.emplace_back(sample.input_ids);
    for (const auto* part :
         {&sample.token_type_ids, &sample.masked_positions, &sample.masked_labels}) {
      content.push_back(-1);
      content.insert(content.end(), part->begin(), part->end());
    }
    content.push_back(sample.next_sentence_label);
  }
  std::ranges::sort(all);
  return all;
}

class WritePacks : public testing::Test {
 protected:
  ~WritePacks() override { fs::remove_all(folder_); }
  const fs::path folder_ = fs::path(testing::TempDir()) / "write_packs_test";
};

// Every sample is in one pack, and all of it comes back.
TEST_F(WritePacks, HoldAllSamplesOnce) {
  const Lengths dataset;
  for (const auto algorithm : {PackingAlgorithm::kLeastSquares, PackingAlgorithm::kLongestPackFirst,
                               PackingAlgorithm::kShortestPackFirst}) {
    fs::remove_all(folder_);
    const HistogramPacking packing = packing_of(dataset, algorithm);
    const WrittenPacks written =
        write_packs(dataset, packing, {.folder = folder_, .shape = kShape, .seed = 12345});
    EXPECT_EQ(written.sequences, 500);
    EXPECT_LT(written.packs, 400);
    const RecordDataset packs(platform::expand_paths((folder_ / "strategy_*").string()),
                              {.shape = kShape});
    EXPECT_EQ(contents(packs), contents(dataset));
  }
}

TEST_F(WritePacks, AreNotMixedWithEarlierOnes) {
  const Lengths dataset;
  const HistogramPacking packing = packing_of(dataset, PackingAlgorithm::kLongestPackFirst);
  EXPECT_NO_THROW(check_has_no_packs(folder_)) << "it is not there";
  platform::make_writable_directory(folder_);
  platform::write_file_atomically(folder_ / "notes", "");
  EXPECT_NO_THROW(check_has_no_packs(folder_));
  platform::write_file_atomically(folder_ / "strategy_48_part_0", "");
  try {
    write_packs(dataset, packing, {.folder = folder_, .shape = kShape});
    FAIL() << "they were written";
  } catch (const UserError& error) {
    EXPECT_EQ(std::string(error.what()),
              (folder_ / "strategy_48_part_0").string() +
                  " is of an earlier packing; choose another folder, or remove its files "
                  "strategy_* first");
  }
}

TEST_F(WritePacks, ARefusedPackingLeavesNoFiles) {
  const Lengths dataset;
  HistogramPacking packing = packing_of(dataset, PackingAlgorithm::kLongestPackFirst);
  packing.strategies.push_back({.lengths = {5, 6, 7, 8}, .count = 1});
  EXPECT_THROW(write_packs(dataset, packing, {.folder = folder_, .shape = kShape}), UserError);
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(WritePacks, MoreThanThreeSequencesAreRefused) {
  const Lengths dataset;
  const HistogramPacking packing{.pack_tokens = 48,
                                 .strategies = {{.lengths = {5, 6, 7, 8}, .count = 1}}};
  try {
    write_packs(dataset, packing, {.folder = folder_, .shape = kShape});
    FAIL() << "they were written";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what())
                  .find("sequences; the form has room for 3: lower "
                        "sequences_per_pack"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace cloze::data

#include "data/dataset.h"

#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

namespace cloze::data {
namespace {

class ListedDataset final : public Dataset {
 public:
  explicit ListedDataset(std::vector<Sample> samples) : samples_(std::move(samples)) {}
  int64_t size() const override { return std::ssize(samples_); }
  Sample sample(int64_t index, int64_t /*epoch*/) const override {
    return samples_[static_cast<size_t>(index)];
  }
  std::string fingerprint() const override { return sample_digest(*this); }

 private:
  std::vector<Sample> samples_;
};

const std::vector<Sample> kSamples = {{.input_ids = {101, 7, 102}, .class_label = 1},
                                      {.input_ids = {101, 8, 102}, .class_label = 0}};

std::string digest_after(const std::function<void(std::vector<Sample>&)>& change) {
  std::vector<Sample> samples = kSamples;
  change(samples);
  return ListedDataset(std::move(samples)).fingerprint();
}

TEST(SampleDigestTest, TheSameSamplesHaveTheSameDigest) {
  const std::string digest = digest_after([](auto&) {});
  EXPECT_EQ(digest.size(), 32u);
  EXPECT_EQ(digest_after([](auto&) {}), digest);
}

// A run that was saved goes on only where its data have the digest that it knows. This one is that of
// Python's xxhash for the lists with their lengths, next_sentence_label, class_label, start_position,
// end_position and score of each sample.
TEST(SampleDigestTest, IsTheOneThatEarlierRunsKnow) {
  EXPECT_EQ(digest_after([](auto&) {}), "50d0b928deeabef946cd9e4383056326");
}

TEST(SampleDigestTest, TokensLabelsAndOrderMatter) {
  const std::string digest = digest_after([](auto&) {});
  EXPECT_NE(digest_after([](auto& samples) { samples[1].input_ids[1] = 9; }), digest);
  EXPECT_NE(digest_after([](auto& samples) { samples[1].class_label = 1; }), digest);
  EXPECT_NE(digest_after([](auto& samples) { samples[1].score = 0.5f; }), digest);
  EXPECT_NE(digest_after([](auto& samples) { samples[0].end_position = 2; }), digest);
  EXPECT_NE(digest_after([](auto& samples) { samples[0].choice_lengths = {1, 2}; }), digest);
  EXPECT_NE(digest_after([](auto& samples) { std::swap(samples[0], samples[1]); }), digest);
  EXPECT_NE(digest_after(
                [](auto& samples) { std::swap(samples[0].input_ids, samples[0].token_type_ids); }),
            digest);
}

}  // namespace
}  // namespace cloze::data

#include "data/token_store/token_store_dataset.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <set>
#include <unordered_set>

#include "base/error.h"
#include "data/creation/creation_progress.h"
#include "data/loader.h"
#include "data/token_store/build_token_store.h"
#include "data/unmasked_test.h"
#include "platform/file.h"

namespace cloze::data {
namespace {

namespace fs = std::filesystem;

constexpr int kWords = 900;

// Words w0 .. w899; every third word is continued by ##s.
text::Vocabulary numbered_vocabulary() {
  std::vector<std::string> tokens{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "##s"};
  for (int i = 0; i < kWords; ++i) tokens.push_back("w" + std::to_string(i));
  return text::Vocabulary::from_tokens(std::move(tokens));
}

// 300 documents of up to 1,500 tokens.
std::string numbered_text() {
  PhiloxStream random(3, 0);
  std::string text;
  for (int document = 0; document < 300; ++document) {
    const uint32_t sentences = 1 + random.below(60);
    for (uint32_t s = 0; s < sentences; ++s) {
      const uint32_t words = 5 + random.below(20);
      for (uint32_t w = 0; w < words; ++w) {
        text += "w" + std::to_string(random.below(kWords)) + (random.below(3) == 0 ? "s " : " ");
      }
      text += '\n';
    }
    text += '\n';
  }
  return text;
}

class TokenStoreDatasetTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new fs::path(fs::temp_directory_path() / "cloze_token_store_dataset_test");
    fs::remove_all(*folder_);
    fs::create_directories(*folder_);
    platform::write_file_atomically(*folder_ / "text", numbered_text());
    CreationProgress progress;
    build_token_store({.files = {*folder_ / "text"}, .folder = *folder_ / "store"},
                      text::Tokenizer(numbered_vocabulary(), {}), progress);
  }
  static void TearDownTestSuite() {
    fs::remove_all(*folder_);
    delete folder_;
  }

  static std::shared_ptr<TokenStoreDataset> dataset(PairOptions pairs = {}) {
    return std::make_shared<TokenStoreDataset>(std::make_shared<TokenStore>(*folder_ / "store"),
                                               DrawingOptions{.pairs = pairs, .seed = 42});
  }

  static inline fs::path* folder_ = nullptr;
};

TEST_F(TokenStoreDatasetTest, AnEpochIsAboutTheTokensOfTheStore) {
  const auto data = dataset();
  int64_t tokens = 0;
  for (int64_t i = 0; i < data->size(); ++i) tokens += std::ssize(data->sample(i, 0).input_ids);
  const auto stored = static_cast<double>(data->store().manifest().tokens);
  EXPECT_NEAR(static_cast<double>(tokens) / stored, 1.0, 0.1);
}

TEST_F(TokenStoreDatasetTest, ASampleIsAFunctionOfEpochAndIndex) {
  const auto data = dataset(), again = dataset();
  for (int64_t i = 0; i < data->size(); i += 7) {
    const Sample sample = data->sample(i, 5), other = again->sample(i, 5);
    EXPECT_EQ(sample.input_ids, other.input_ids);
    EXPECT_EQ(sample.masked_positions, other.masked_positions);
    EXPECT_EQ(sample.next_sentence_label, other.next_sentence_label);
  }
}

// Within four standard deviations of what is drawn with probability p.
void expect_share(int64_t count, int64_t total, double p, const char* what) {
  const double share = static_cast<double>(count) / static_cast<double>(total);
  EXPECT_NEAR(share, p, 4 * std::sqrt(p * (1 - p) / static_cast<double>(total))) << what;
}

TEST_F(TokenStoreDatasetTest, MasksAreDrawnInTheSharesOfBert) {
  const auto data = dataset({.masking = {.max_predictions = 40}});
  const int32_t mask = data->store().vocabulary().mask_id();
  int64_t masked = 0, kept = 0, chosen = 0, tokens = 0;
  double expected = 0;
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    for (int64_t i = 0; i < data->size(); ++i) {
      const Sample sample = data->sample(i, epoch);
      tokens += std::ssize(sample.input_ids);
      chosen += std::ssize(sample.masked_positions);
      expected += std::nearbyint(0.15 * static_cast<double>(sample.input_ids.size()));
      for (size_t m = 0; m < sample.masked_positions.size(); ++m) {
        const int32_t id = sample.input_ids[sample.masked_positions[m]];
        masked += id == mask ? 1 : 0;
        kept += id == sample.masked_labels[m] ? 1 : 0;
      }
    }
  }
  ASSERT_GT(chosen, 10'000);
  EXPECT_EQ(static_cast<double>(chosen), expected);
  expect_share(chosen, tokens, 0.15, "of the tokens are chosen");
  const double by_chance = 1.0 / (kWords + 6);
  expect_share(masked, chosen, 0.8 + 0.1 * by_chance, "of the chosen become [MASK]");
  expect_share(kept, chosen, 0.1 + 0.1 * by_chance, "of the chosen stay");
}

TEST_F(TokenStoreDatasetTest, EpochsDifferInMasksAndPairs) {
  const auto data = dataset();
  int64_t same_masks = 0, same_text = 0;
  for (int64_t i = 0; i < data->size(); ++i) {
    const Sample first = data->sample(i, 0), second = data->sample(i, 1);
    same_masks += first.masked_positions == second.masked_positions ? 1 : 0;
    same_text += unmasked(first) == unmasked(second) ? 1 : 0;
  }
  EXPECT_LT(same_masks, data->size() / 20);
  EXPECT_LT(same_text, data->size() / 4);
}

int64_t three_tokens(const std::vector<int32_t>& ids, size_t at) {
  return (int64_t{ids[at]} << 20 | ids[at + 1]) << 20 | ids[at + 2];
}

TEST_F(TokenStoreDatasetTest, AllOfTheTextIsMetOverTheEpochs) {
  const auto data = dataset({.next_sentence = NextSentence::kNone});
  std::unordered_set<int64_t> met;  // any three tokens that follow each other
  for (int64_t epoch = 0; epoch < 12; ++epoch) {
    for (int64_t i = 0; i < data->size(); ++i) {
      const std::vector<int32_t> ids = unmasked(data->sample(i, epoch));
      for (size_t t = 1; t + 3 < ids.size(); ++t) {
        met.insert(three_tokens(ids, t));
      }
    }
  }
  int64_t sentences = 0, unmet = 0;
  const TokenStore& store = data->store();
  for (int64_t d = 0; d < store.documents(); ++d) {
    for (int64_t s = 0; s < store.sentences_in(d); ++s) {
      std::vector<int32_t> ids;
      store.append_ids(d, s, s + 1, ids);
      ++sentences;
      unmet += met.contains(three_tokens(ids, 0)) ? 0 : 1;
    }
  }
  EXPECT_LT(unmet, sentences / 100) << "of " << sentences;
}

TEST_F(TokenStoreDatasetTest, NextSentenceIsDrawnAsAsked) {
  const int64_t longest = 128;
  int64_t random_next = 0, pairs = 0;
  const auto random = dataset();
  for (int64_t i = 0; i < random->size(); ++i) {
    const Sample sample = random->sample(i, 0);
    ASSERT_LE(std::ssize(sample.input_ids), longest);
    EXPECT_EQ(sample.token_type_ids.back(), 1);
    random_next += sample.next_sentence_label;
    ++pairs;
  }
  EXPECT_GT(random_next, pairs * 45 / 100);  // one half, and chunks of a single sentence
  EXPECT_LT(random_next, pairs * 70 / 100);

  const auto order = dataset({.next_sentence = NextSentence::kOrder});
  int64_t swapped = 0;
  pairs = 0;
  for (int64_t i = 0; i < order->size(); ++i) {
    const Sample sample = order->sample(i, 0);
    if (sample.next_sentence_label < 0) continue;
    swapped += sample.next_sentence_label;
    ++pairs;
  }
  expect_share(swapped, pairs, 0.5, "of the pairs have changed places");

  const auto none =
      dataset({.short_sequence_probability = 0, .next_sentence = NextSentence::kNone});
  int64_t full = 0;
  for (int64_t i = 0; i < none->size(); ++i) {
    const Sample sample = none->sample(i, 0);
    ASSERT_LE(std::ssize(sample.input_ids), longest);
    full += std::ssize(sample.input_ids) == longest ? 1 : 0;
    EXPECT_EQ(sample.next_sentence_label, -1);
    EXPECT_EQ(sample.token_type_ids.back(), 0);
  }
  EXPECT_GT(full, none->size() / 2);
}

TEST_F(TokenStoreDatasetTest, WholeWordsAreMaskedTogether) {
  const auto data = dataset({.masking = {.max_predictions = 40, .whole_words = true}});
  const int32_t ending = *data->store().vocabulary().find("##s");
  for (int64_t i = 0; i < data->size(); i += 3) {
    const Sample sample = data->sample(i, 0);
    const std::vector<int32_t> ids = unmasked(sample);
    const std::set<int32_t> chosen(sample.masked_positions.begin(), sample.masked_positions.end());
    for (int32_t t = 2; t < std::ssize(ids); ++t) {
      if (ids[t] != ending || ids[t - 1] < 5) continue;  // a piece behind [CLS] or [SEP]
      EXPECT_EQ(chosen.contains(t), chosen.contains(t - 1));
    }
  }
}

TEST_F(TokenStoreDatasetTest, StepsOfEveryRankAreTheSameSamples) {
  LoaderOptions options{.dataset = dataset(),
                        .global_batch_size = 16,
                        .capacity = {.tokens = 512, .sequences = 16, .predictions = 80},
                        .seed = 7};
  for (int64_t step : {0, 3, 1'000'000}) {
    options.rank = 0;
    options.ranks = 1;
    const std::vector<Sample> all = step_samples(options, step);
    for (int64_t ranks : {1, 2, 4}) {
      options.ranks = ranks;
      size_t place = 0;
      for (options.rank = 0; options.rank < ranks; ++options.rank) {
        for (const Sample& sample : step_samples(options, step)) {
          EXPECT_EQ(sample.input_ids, all[place].input_ids);
          EXPECT_EQ(sample.masked_positions, all[place++].masked_positions);
        }
      }
      EXPECT_EQ(place, all.size());
    }
  }
}

TEST_F(TokenStoreDatasetTest, OtherContentOrOptionsHaveAnotherFingerprint) {
  const std::string name = dataset()->fingerprint();
  EXPECT_EQ(dataset()->fingerprint(), name);
  EXPECT_NE(dataset({.next_sentence = NextSentence::kNone})->fingerprint(), name);
  EXPECT_NE(dataset({.masking = {.sequence_length = 64}})->fingerprint(), name);
}

TEST_F(TokenStoreDatasetTest, NonsenseSizesAreRefused) {
  EXPECT_THROW(dataset({.masking = {.sequence_length = 4}}), UserError);
  EXPECT_THROW(dataset({.masking = {.max_predictions = 0}}), UserError);
}

}  // namespace
}  // namespace cloze::data

#include "data/token_store/token_store_dataset.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_set>

#include "base/error.h"
#include "data/corpus/creation_progress.h"
#include "data/id_count.h"
#include "data/token_store/build_token_store.h"
#include "platform/files/atomic_file.h"

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
    folder_ = new fs::path(fs::path(testing::TempDir()) / "cloze_token_store_dataset_test");
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

  static std::shared_ptr<TokenStoreDataset> dataset(WindowOptions pairs = {}) {
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
    same_text += unmasked_ids(first) == unmasked_ids(second) ? 1 : 0;
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
      const std::vector<int32_t> ids = unmasked_ids(data->sample(i, epoch));
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
  int64_t long_ones = 0;  // at most two looks back for a sentence, of 15 tokens, short of full
  for (int64_t i = 0; i < none->size(); ++i) {
    const Sample sample = none->sample(i, 0);
    ASSERT_LE(std::ssize(sample.input_ids), longest);
    long_ones += std::ssize(sample.input_ids) >= longest - 2 * 15 ? 1 : 0;
    EXPECT_EQ(sample.next_sentence_label, -1);
    EXPECT_EQ(sample.token_type_ids.back(), 0);
  }
  EXPECT_GT(long_ones, none->size() / 2);
}

TEST_F(TokenStoreDatasetTest, WholeWordsAreMaskedTogether) {
  const auto data = dataset({.masking = {.max_predictions = 40, .whole_words = true}});
  const int32_t ending = *data->store().vocabulary().find("##s");
  for (int64_t i = 0; i < data->size(); i += 3) {
    const Sample sample = data->sample(i, 0);
    const std::vector<int32_t> ids = unmasked_ids(sample);
    const std::set<int32_t> chosen(sample.masked_positions.begin(), sample.masked_positions.end());
    for (int32_t t = 2; t < std::ssize(ids); ++t) {
      if (ids[t] != ending || ids[t - 1] < 5) continue;  // a piece after [CLS] or [SEP]
      EXPECT_EQ(chosen.contains(t), chosen.contains(t - 1));
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

// Texts in which no word occurs twice, so that a token's id tells where it is from.
class EveryWordOnce {
 public:
  // Lengths of sentences, document by document.
  explicit EveryWordOnce(const std::vector<std::vector<int>>& documents) {
    std::vector<std::string> vocabulary{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
    std::string text;
    for (const std::vector<int>& document : documents) {
      for (const int sentence : document) {
        for (int word = 0; word < sentence; ++word) {
          vocabulary.push_back(fmt::format("w{}", ++words_));
          text += vocabulary.back() + ' ';
        }
        text += '\n';
      }
      text += '\n';
    }
    fs::create_directories(folder_);
    platform::write_file_atomically(folder_ / "text", text);
    CreationProgress progress;
    build_token_store({.files = {folder_ / "text"}, .folder = folder_ / "store"},
                      text::Tokenizer(text::Vocabulary::from_tokens(vocabulary), {}), progress);
  }
  ~EveryWordOnce() { fs::remove_all(folder_); }

  int64_t words() const { return words_; }
  TokenStoreDataset dataset(NextSentence next_sentence, double short_sequences) const {
    return {std::make_shared<TokenStore>(folder_ / "store"),
            DrawingOptions{.pairs = {.short_sequence_probability = short_sequences,
                                     .next_sentence = next_sentence}}};
  }
  // How often each word is met in the samples of an epoch.
  std::vector<int> met(const TokenStoreDataset& data, int64_t epoch) const {
    std::vector<int> counts(static_cast<size_t>(words_));
    for (int64_t i = 0; i < data.size(); ++i) {
      for (const int32_t id : unmasked_ids(data.sample(i, epoch))) {
        if (id >= kFirstWord) ++counts[static_cast<size_t>(id - kFirstWord)];
      }
    }
    return counts;
  }

 private:
  static constexpr int32_t kFirstWord = 5;
  const fs::path folder_ = fs::path(testing::TempDir()) / "cloze_every_word_once";
  int64_t words_ = 0;
};

std::vector<std::vector<int>> short_sentences() {
  PhiloxStream random(11, 0);
  std::vector<std::vector<int>> documents(60);
  for (std::vector<int>& document : documents) {
    document.resize(1 + random.below(30));
    for (int& sentence : document) sentence = 2 + static_cast<int>(random.below(40));
  }
  return documents;
}
std::vector<std::vector<int>> long_lines() { return {{5000}, {5000}, {300}, {4000}, {5001}}; }
std::vector<std::vector<int>> mixed() {
  std::vector<std::vector<int>> documents = short_sentences();
  for (const std::vector<int>& line : long_lines()) documents.push_back(line);
  documents.push_back({9, 700, 30, 12, 4, 126, 125, 2500, 11});
  return documents;
}

class EvennessTest
    : public testing::TestWithParam<std::tuple<std::vector<std::vector<int>>, NextSentence>> {};

TEST_P(EvennessTest, AnEpochMeetsEveryTokenOnce) {
  const auto& [documents, next_sentence] = GetParam();
  const EveryWordOnce text(documents);
  const TokenStoreDataset data = text.dataset(next_sentence, 0);
  for (int64_t epoch = 0; epoch < 5; ++epoch) {
    EXPECT_EQ(text.met(data, epoch), std::vector<int>(static_cast<size_t>(text.words()), 1));
  }
}

// A token is met or not with the same probability in each epoch: 0.95, as one window in ten keeps
// only one of its two parts. The bound holds for all tokens at once but in one case in a million.
TEST_P(EvennessTest, ShortSequencesLeaveEveryTokenAsLikely) {
  const auto& [documents, next_sentence] = GetParam();
  const EveryWordOnce text(documents);
  const TokenStoreDataset data = text.dataset(next_sentence, 0.1);
  constexpr int kEpochs = 200;
  constexpr double kMet = 0.95;
  std::vector<int> total(static_cast<size_t>(text.words()));
  for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    const std::vector<int> met = text.met(data, epoch);
    for (size_t i = 0; i < met.size(); ++i) total[i] += met[i];
  }
  const double deviations = std::sqrt(2 * std::log(2e6 * static_cast<double>(text.words())));
  const double bound = deviations * std::sqrt(kEpochs * kMet * (1 - kMet));
  const auto [fewest, most] = std::ranges::minmax(total);
  EXPECT_GT(fewest, kEpochs * kMet - bound);
  EXPECT_LE(most, kEpochs);
  const double mean = std::accumulate(total.begin(), total.end(), 0.0) /
                      static_cast<double>(text.words() * kEpochs);
  EXPECT_NEAR(mean, kMet, 0.005);
}

INSTANTIATE_TEST_SUITE_P(Texts, EvennessTest,
                         testing::Combine(testing::Values(short_sentences(), long_lines(), mixed()),
                                          testing::Values(NextSentence::kRandom,
                                                          NextSentence::kOrder,
                                                          NextSentence::kNone)),
                         [](const auto& test) { return fmt::format("Case{}", test.index); });

TEST(LongLinesTest, PairsAreOfBothLabelsInEqualShares) {
  const EveryWordOnce text(long_lines());
  const TokenStoreDataset data = text.dataset(NextSentence::kRandom, 0.1);
  int64_t random_next = 0, pairs = 0;
  for (int64_t epoch = 0; epoch < 50; ++epoch) {
    for (int64_t i = 0; i < data.size(); ++i, ++pairs) {
      random_next += data.sample(i, epoch).next_sentence_label;
    }
  }
  // Two sequences share one flip of a coin.
  EXPECT_NEAR(static_cast<double>(random_next), static_cast<double>(pairs) / 2,
              4 * std::sqrt(static_cast<double>(pairs) / 2));
}

}  // namespace
}  // namespace cloze::data

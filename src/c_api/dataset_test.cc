// Data sets and batches through the C interface: the samples of a loader over the same store.
#include <cloze_runtime.h>

#include <gtest/gtest.h>
#include <cloze_runtime.hpp>

#include <filesystem>

#include "c_api/handles_test.h"
#include "data/corpus/creation_progress.h"
#include "data/loader.h"
#include "data/token_store/build_token_store.h"
#include "data/token_store/token_store_dataset.h"
#include "platform/files/atomic_file.h"

namespace cloze {
namespace {

namespace fs = std::filesystem;
using Numbers = std::vector<int32_t>;

class DatasetTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new fs::path(fs::path(testing::TempDir()) / "cloze_c_api_dataset");
    fs::remove_all(*folder_);
    fs::create_directories(*folder_);
    std::vector<std::string> tokens{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "##s"};
    for (int i = 0; i < 50; ++i) tokens.push_back("w" + std::to_string(i));
    std::string text;
    for (int word = 0; word < 4000; ++word) {
      text += "w" + std::to_string(word * 7 % 50) + (word % 3 == 0 ? "s" : "");
      text += word % 11 == 0 ? "\n" : " ";
      if (word % 400 == 0) text += "\n";
    }
    platform::write_file_atomically(*folder_ / "text", text);
    data::CreationProgress progress;
    data::build_token_store({.files = {*folder_ / "text"}, .folder = *folder_ / "store"},
                            text::Tokenizer(text::Vocabulary::from_tokens(std::move(tokens)), {}),
                            progress);
  }
  static void TearDownTestSuite() {
    fs::remove_all(*folder_);
    delete folder_;
  }

  static std::string store() { return (*folder_ / "store").string(); }
  static cloze_drawing drawing() { return {32, 5, 0.15, 0.1, 0, CLOZE_NEXT_RANDOM, 7}; }

  static inline fs::path* folder_ = nullptr;
};

// The batch of a loader with room for it.
data::MicroBatch loaded(const std::string& store, int64_t batch_size, int64_t step) {
  data::DrawingOptions options{.seed = 7};
  options.pairs.masking.sequence_length = 32;
  options.pairs.masking.max_predictions = 5;
  const auto dataset = std::make_shared<data::TokenStoreDataset>(
      std::make_shared<const data::TokenStore>(store), options);
  return data::load_step({.dataset = dataset,
                          .global_batch_size = batch_size,
                          .capacity = {batch_size * 32, batch_size, batch_size * 5},
                          .seed = 7},
                         step)
      .micro_batches.front();
}

Numbers first_of(const Numbers& numbers, int64_t count) {
  return {numbers.begin(), numbers.begin() + count};
}

TEST_F(DatasetTest, BatchesAreThoseOfALoaderWithoutWhatIsUnused) {
  const cloze_runtime::Dataset dataset(store(),
                                       {.seq_length = 32, .max_predictions = 5, .seed = 7});
  EXPECT_GT(dataset.samples(), 100);
  cloze_runtime::Batches batches(dataset, 9, 3, 2);
  for (int64_t step = 3; step < 30; ++step) {  // beyond an epoch
    batches.next();
    const data::MicroBatch expected = loaded(store(), 9, step);
    const int64_t tokens = expected.num_tokens, predictions = expected.num_predictions;
    EXPECT_EQ(batches.numbers("input_ids"), first_of(expected.input_ids, tokens));
    EXPECT_EQ(batches.numbers("token_type_ids"), first_of(expected.token_type_ids, tokens));
    EXPECT_EQ(batches.numbers("position_ids"), first_of(expected.position_ids, tokens));
    EXPECT_EQ(batches.numbers("sequence_starts"), expected.sequence_starts);
    EXPECT_EQ(batches.numbers("sequence_starts").back(), tokens);
    EXPECT_EQ(batches.numbers("masked_positions"),
              first_of(expected.masked_positions, predictions));
    EXPECT_EQ(batches.numbers("masked_labels"), first_of(expected.masked_labels, predictions));
    EXPECT_EQ(batches.numbers("next_sentence_labels"), expected.next_sentence_labels);
  }
}

TEST_F(DatasetTest, OptionsOfDrawingReachTheSamples) {
  const auto first_batch = [](const cloze_runtime::Drawing& drawing, const char* name) {
    cloze_runtime::Batches batches(cloze_runtime::Dataset(store(), drawing), 16);
    batches.next();
    return batches.numbers(name);
  };
  const cloze_runtime::Drawing plain{.seq_length = 32};
  const Numbers ids = first_batch(plain, "input_ids");
  const size_t masked = first_batch(plain, "masked_labels").size();
  EXPECT_NE(first_batch({.seq_length = 32, .seed = 1}, "input_ids"), ids);
  EXPECT_LT(first_batch({.seq_length = 32, .short_probability = 1}, "input_ids").size(),
            ids.size());
  EXPECT_GT(first_batch({.seq_length = 32, .mask_probability = 0.5}, "masked_labels").size(),
            masked);
  EXPECT_NE(first_batch({.seq_length = 32, .next_sentence = CLOZE_NEXT_ORDER}, "input_ids"), ids);
  EXPECT_EQ(
      first_batch({.seq_length = 32, .next_sentence = CLOZE_NEXT_NONE}, "next_sentence_labels"),
      Numbers(16, -1));
  EXPECT_NE(first_batch({.seq_length = 32, .whole_words = true}, "masked_positions"),
            first_batch(plain, "masked_positions"));
}

TEST_F(DatasetTest, WhatCannotBeIsRefused) {
  const auto said = [&](auto change) {
    cloze_drawing changed = drawing();
    change(changed);
    return refusal(cloze_dataset_open(store().c_str(), &changed));
  };
  EXPECT_EQ(said([](auto& d) { d.seq_length = 4; }), "seq_length is 4; choose 5 to 65536");
  EXPECT_EQ(said([](auto& d) { d.max_predictions = 33; }),
            "max_predictions is 33; choose 1 to the 32 of seq_length");
  EXPECT_EQ(said([](auto& d) { d.mask_probability = 0; }),
            "mask_probability is 0; choose more than 0, and at most 1");
  EXPECT_EQ(said([](auto& d) { d.short_probability = 1.5; }),
            "short_probability is 1.5; choose 0 to 1");
  EXPECT_EQ(said([](auto& d) { d.next_sentence = 3; }), "next_sentence is 3; choose 0 to 2");
  const cloze_drawing good = drawing();
  EXPECT_NE(refusal(cloze_dataset_open("no/store", &good)).find("no/store"), std::string::npos);
  EXPECT_EQ(refusal(cloze_dataset_open(nullptr, &good)), "cloze_dataset_open got NULL");
  cloze_dataset* dataset = cloze_dataset_open(store().c_str(), &good);
  ASSERT_NE(dataset, nullptr) << cloze_last_error();
  EXPECT_EQ(refusal(cloze_batches_open(dataset, 0, 0, 1)), "batch_size is 0; choose 1 to 1048576");
  EXPECT_EQ(refusal(cloze_batches_open(dataset, 1, -1, 1)), "first_batch is -1; choose 0 or more");
  cloze_batches* batches = cloze_batches_open(dataset, 2, 0, 1);
  ASSERT_NE(batches, nullptr) << cloze_last_error();
  cloze_dataset_close(dataset);  // which the batches outlive
  int64_t count = 0;
  EXPECT_EQ(refusal(cloze_batches_numbers(batches, "input_ids", &count)),
            "there is no batch yet; call cloze_batches_next");
  EXPECT_EQ(cloze_batches_next(batches), 0) << cloze_last_error();
  EXPECT_EQ(refusal(cloze_batches_numbers(batches, "scores", &count)),
            "a batch has no numbers called \"scores\"");
  EXPECT_EQ(refusal(cloze_batches_numbers(batches, nullptr, &count)),
            "cloze_batches_numbers got NULL");
  cloze_batches_close(batches);
  EXPECT_EQ(refusal(cloze_dataset_samples(nullptr)),
            "there is no data set; open one with cloze_dataset_open");
  EXPECT_EQ(refusal(cloze_batches_next(nullptr)),
            "there is no loader of batches; open one with cloze_batches_open");
  cloze_dataset_close(nullptr);
  cloze_batches_close(nullptr);
}

}  // namespace
}  // namespace cloze

#include <cloze_runtime.h>

#include <gtest/gtest.h>
#include <cloze_runtime.hpp>

#include <filesystem>

#include "c_api/handles_test.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"

namespace cloze {
namespace {

namespace fs = std::filesystem;

using Encoding = std::unique_ptr<cloze_encoding, decltype(&cloze_encoding_close)>;

Encoding encoded(const cloze_tokenizer* tokenizer, const std::vector<std::string>& texts,
                 int64_t max_tokens = 0, int flags = 0, int threads = 1) {
  const auto views = c_texts(texts);
  cloze_encoding* made =
      cloze_encode(tokenizer, views.data(), nullptr, std::ssize(views), max_tokens, flags, threads);
  EXPECT_NE(made, nullptr) << cloze_last_error();
  return {made, cloze_encoding_close};
}

template <class Element>
std::vector<Element> numbers(const Element* begin, int64_t count) {
  EXPECT_NE(begin, nullptr);
  return {begin, begin + count};
}

class TokensTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    platform::write_file_atomically(folder_ / "vocab.txt",
                                    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##able\nd\n.\n");
    tokenizer_ = cloze_tokenizer_open(folder_.c_str());
    ASSERT_NE(tokenizer_, nullptr) << cloze_last_error();
  }
  void TearDown() override {
    cloze_tokenizer_close(tokenizer_);
    fs::remove_all(folder_);
  }

  std::string decoded(const std::vector<int32_t>& ids, int flags) const {
    const int64_t bytes = cloze_decode(tokenizer_, ids.data(), std::ssize(ids), flags, nullptr, 0);
    std::string text(static_cast<size_t>(bytes) + 1, 'x');
    EXPECT_EQ(cloze_decode(tokenizer_, ids.data(), std::ssize(ids), flags, text.data(), bytes + 1),
              bytes);
    EXPECT_EQ(text.back(), '\0');
    text.pop_back();
    return text;
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / "cloze_c_api_tokens";
  cloze_tokenizer* tokenizer_ = nullptr;
};

TEST_F(TokensTest, TokensHaveIdsAndPlacesInBytes) {
  const std::vector<std::string> texts = {"\u00e9 Unable.", "D\xff", ""};
  const Encoding all = encoded(tokenizer_, texts);
  EXPECT_EQ(cloze_encoding_sequences(all.get()), 3);
  EXPECT_EQ(cloze_encoding_tokens(all.get()), 11);
  const auto ids = numbers(cloze_encoding_ids(all.get()), 11);
  EXPECT_EQ(ids, (std::vector<int32_t>{2, 1, 5, 6, 8, 3, 2, 7, 3, 2, 3}));
  EXPECT_EQ(numbers(cloze_encoding_lengths(all.get()), 3), (std::vector<int64_t>{6, 3, 2}));
  EXPECT_EQ(numbers(cloze_encoding_cut(all.get()), 3), (std::vector<int64_t>{0, 0, 0}));
  EXPECT_EQ(numbers(cloze_encoding_invalid(all.get()), 3), (std::vector<int64_t>{0, 1, 0}));
  EXPECT_EQ(numbers(cloze_encoding_types(all.get()), 11), std::vector<int32_t>(11, 0));
  EXPECT_EQ(numbers(cloze_encoding_special(all.get()), 11),
            (std::vector<uint8_t>{1, 0, 0, 0, 0, 1, 1, 0, 1, 1, 1}));
  EXPECT_EQ(numbers(cloze_encoding_begins(all.get()), 11),
            (std::vector<int64_t>{0, 0, 3, 5, 9, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(numbers(cloze_encoding_ends(all.get()), 11),
            (std::vector<int64_t>{0, 2, 5, 9, 10, 0, 0, 1, 0, 0, 0}));
  cloze_batch batch;
  ASSERT_EQ(cloze_encoding_batch(all.get(), &batch), 0);
  EXPECT_EQ(batch.token_ids, cloze_encoding_ids(all.get()));
  EXPECT_EQ(batch.token_type_ids, cloze_encoding_types(all.get()));
  EXPECT_EQ(batch.lengths, cloze_encoding_lengths(all.get()));
  EXPECT_EQ(batch.sequences, 3);
}

TEST_F(TokensTest, APairIsOneSequenceAndMayLackItsSecondText) {
  const std::string first = "d d d d", second = "unable";
  const cloze_text texts[] = {c_text(first), c_text(first)};
  const cloze_text pairs[] = {c_text(second), {nullptr, 0}};
  const Encoding all(cloze_encode(tokenizer_, texts, pairs, 2, 7, 0, 1), cloze_encoding_close);
  ASSERT_NE(all, nullptr) << cloze_last_error();
  const auto ids = numbers(cloze_encoding_ids(all.get()), cloze_encoding_tokens(all.get()));
  EXPECT_EQ(ids, (std::vector<int32_t>{2, 7, 7, 3, 5, 6, 3, 2, 7, 7, 7, 7, 3}));
  EXPECT_EQ(numbers(cloze_encoding_types(all.get()), 7),
            (std::vector<int32_t>{0, 0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(numbers(cloze_encoding_cut(all.get()), 2), (std::vector<int64_t>{2, 0}));
}

// The C++ header's two forms are the same sequences, laid end to end or each by itself.
TEST_F(TokensTest, TheHeaderForCppGivesOneEncodingOrMany) {
  const cloze_runtime::Tokenizer tokenizer(folder_.string());
  const std::vector<std::string_view> texts = {"unable d", {}}, pairs = {"d", "."};
  const auto together = tokenizer.encode_together(texts, pairs);
  ASSERT_EQ(together.sequences(), 2);
  ASSERT_EQ(together.tokens(), 11);
  EXPECT_EQ(numbers(together.ids(), 11), (std::vector<int32_t>{2, 5, 6, 7, 3, 7, 3, 2, 3, 8, 3}));
  const auto apart = tokenizer.encode({"unable d", ""}, {"d", "."});
  EXPECT_EQ(apart[1].ids, numbers(together.ids() + 7, 4));
  EXPECT_EQ(apart[1].types, numbers(together.types() + 7, 4));
  EXPECT_EQ(apart[0].ends, numbers(together.ends(), 7));
  const auto nothing = tokenizer.encode_together(std::vector<std::string>());
  EXPECT_EQ(nothing.sequences() + nothing.tokens(), 0);
  EXPECT_EQ(nothing.ids(), nullptr);
  try {
    tokenizer.encode_together(texts, {pairs[0]});
    FAIL() << "taken";
  } catch (const cloze_runtime::Error& error) {
    EXPECT_STREQ(error.what(), "2 texts have 1 second texts; give one for each, or none");
    EXPECT_EQ(error.status(), 2);
  }
}

TEST_F(TokensTest, SpecialTokensMayBeLeftOut) {
  const Encoding all = encoded(tokenizer_, {"d.", ""}, 0, CLOZE_WITHOUT_SPECIAL_TOKENS);
  EXPECT_EQ(numbers(cloze_encoding_lengths(all.get()), 2), (std::vector<int64_t>{2, 0}));
  const Encoding none = encoded(tokenizer_, {""}, 0, CLOZE_WITHOUT_SPECIAL_TOKENS);
  EXPECT_EQ(cloze_encoding_tokens(none.get()), 0);
  EXPECT_NE(cloze_encoding_ids(none.get()), nullptr);
  EXPECT_NE(cloze_encoding_types(none.get()), nullptr);
  EXPECT_NE(cloze_encoding_special(none.get()), nullptr);
  EXPECT_NE(cloze_encoding_begins(none.get()), nullptr);
  EXPECT_NE(cloze_encoding_ends(none.get()), nullptr);
}

TEST_F(TokensTest, ThreadsDoNotChangeTheOrder) {
  std::vector<std::string> texts;
  for (int i = 0; i < 300; ++i)
    texts.push_back(std::string(static_cast<size_t>(i % 17), 'd') + " .");
  const Encoding one = encoded(tokenizer_, texts), many = encoded(tokenizer_, texts, 0, 0, 3);
  const int64_t tokens = cloze_encoding_tokens(one.get());
  ASSERT_EQ(cloze_encoding_tokens(many.get()), tokens);
  EXPECT_EQ(numbers(cloze_encoding_ids(one.get()), tokens),
            numbers(cloze_encoding_ids(many.get()), tokens));
}

TEST_F(TokensTest, TokensAndIdsAreFoundByEachOther) {
  EXPECT_EQ(cloze_tokenizer_size(tokenizer_), 9);
  for (int32_t id = 0; id < 9; ++id) {
    EXPECT_EQ(cloze_token_id(tokenizer_, cloze_token(tokenizer_, id)), id);
  }
  EXPECT_EQ(refusal(cloze_token(tokenizer_, -1)), "token id -1; the tokenizer has 0 to 8");
  EXPECT_EQ(refusal(cloze_token(tokenizer_, 9)), "token id 9; the tokenizer has 0 to 8");
  EXPECT_EQ(refusal(cloze_token_id(tokenizer_, "able")),
            "\"able\" is none of the tokenizer's 9 tokens");
  EXPECT_EQ(refusal(cloze_token_id(tokenizer_, nullptr)), "cloze_token_id got no token");
}

TEST_F(TokensTest, TokensAreCounted) {
  const cloze_text text{"unable d\0 d", 11}, up_to_nul{"unable d\0 d", -1};
  EXPECT_EQ(cloze_count_tokens(tokenizer_, &text), 4);
  EXPECT_EQ(cloze_count_tokens(tokenizer_, &up_to_nul), 3);
  EXPECT_EQ(refusal(cloze_count_tokens(tokenizer_, nullptr)), "cloze_count_tokens got no text");
}

TEST_F(TokensTest, IdsBecomeText) {
  EXPECT_EQ(decoded({2, 5, 6, 7, 8, 3}, 0), "[CLS] unable d. [SEP]");
  EXPECT_EQ(decoded({2, 5, 6, 7, 8, 3}, CLOZE_WITHOUT_SPECIAL_TOKENS), "unable d.");
  EXPECT_EQ(decoded({}, 0), "");
  char few[4] = {'x', 'x', 'x', 'x'};
  const int32_t ids[] = {5, 6};
  EXPECT_EQ(cloze_decode(tokenizer_, ids, 2, 0, few, 3), 6);
  EXPECT_EQ(std::string(few, 4), std::string("un\0x", 4));
  EXPECT_EQ(cloze_decode(tokenizer_, ids, 2, 0, few, 1), 6);
  EXPECT_EQ(few[0], '\0');
  const int32_t wrong[] = {5, 9};
  EXPECT_EQ(refusal(cloze_decode(tokenizer_, wrong, 2, 0, few, 3)),
            "token id 9; the tokenizer has 0 to 8");
  EXPECT_EQ(refusal(cloze_decode(tokenizer_, nullptr, 2, 0, few, 3)),
            "cloze_decode got 2 ids; give 0 or more, and where they are");
  EXPECT_EQ(refusal(cloze_decode(tokenizer_, ids, -1, 0, few, 3)),
            "cloze_decode got -1 ids; give 0 or more, and where they are");
  EXPECT_EQ(refusal(cloze_decode(tokenizer_, ids, 2, 0, nullptr, 3)),
            "cloze_decode got a buffer of 3 bytes; give 0 or more, and where it is");
  EXPECT_EQ(refusal(cloze_decode(tokenizer_, ids, 2, 0, few, -1)),
            "cloze_decode got a buffer of -1 bytes; give 0 or more, and where it is");
  EXPECT_EQ(refusal(cloze_decode(tokenizer_, ids, 2, 2, few, 3)),
            "cloze_decode got flags 2; it knows 0 and 1");
}

// Folder, file, packed model and open model give the same tokenizer.
TEST_F(TokensTest, ATokenizerIsReadFromWhateverHoldsOne) {
  const inference::SmallModelFolder model_folder(models::HeadKind::kSequenceClassification,
                                                 "c_api_tokenizer");
  const fs::path packed = folder_ / "model.cloze";
  inference::PackedModel::pack(inference::open_pretrained_model(model_folder.path()), {})
      .write(packed);
  cloze_model* model = cloze_model_open(packed.c_str());
  ASSERT_NE(model, nullptr) << cloze_last_error();
  EXPECT_EQ(cloze_tokenizer_size(cloze_model_tokenizer(model)), 97);
  for (const fs::path& path : {model_folder.path(), model_folder.path() / "vocab.txt", packed}) {
    cloze_tokenizer* tokenizer = cloze_tokenizer_open(path.c_str());
    ASSERT_NE(tokenizer, nullptr) << cloze_last_error();
    EXPECT_EQ(cloze_tokenizer_size(tokenizer), 97);
    EXPECT_STREQ(cloze_token(tokenizer, 96), "word96");
    cloze_tokenizer_close(tokenizer);
  }
  cloze_model_close(model);
  // The weights are not read: damage to them is not noticed, damage to the description is.
  std::string bytes = platform::read_file(packed);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  platform::write_file_atomically(packed, bytes);
  EXPECT_EQ(cloze_model_open(packed.c_str()), nullptr);
  cloze_tokenizer* tokenizer = cloze_tokenizer_open(packed.c_str());
  EXPECT_NE(tokenizer, nullptr) << cloze_last_error();
  cloze_tokenizer_close(tokenizer);
  bytes[100] = static_cast<char>(bytes[100] ^ 1);
  platform::write_file_atomically(packed, bytes);
  EXPECT_EQ(refusal(cloze_tokenizer_open(packed.c_str())),
            packed.string() +
                ": checksum of the description does not match; the file is damaged: make it again "
                "with cloze compile");
  EXPECT_EQ(cloze_last_error_status(), 3);
}

TEST_F(TokensTest, WhatCannotBeIsRefused) {
  const std::string word = "d";
  const cloze_text text = c_text(word), null{nullptr, 1}, negative{"d", -2};
  const auto said = [&](const cloze_text* texts, int64_t count, int64_t most, int flags,
                        int threads) {
    return refusal(cloze_encode(tokenizer_, texts, nullptr, count, most, flags, threads));
  };
  EXPECT_EQ(said(nullptr, 2, 0, 0, 1), "there is no text; give an array of 2");
  EXPECT_EQ(said(&null, 1, 0, 0, 1), "text 0 is NULL; give its bytes");
  EXPECT_EQ(said(&negative, 1, 0, 0, 1),
            "text 0 has -2 bytes; give 0 or more, or -1 for all up to the first NUL");
  EXPECT_EQ(said(&text, 0, 0, 0, 1), "cloze_encode got 0 texts; give 1 to 1000000");
  EXPECT_EQ(said(&text, INT64_MAX, 0, 0, 1),
            "cloze_encode got 9223372036854775807 texts; give 1 to 1000000");
  EXPECT_EQ(said(&text, 1, -1, 0, 1),
            "cloze_encode got max_tokens -1; give 1 or more, or 0 to cut nothing");
  EXPECT_EQ(said(&text, 1, 1, 0, 1), "1 tokens hold no sequence; give 2 or more");
  EXPECT_EQ(said(&text, 1, 0, 6, 1), "cloze_encode got flags 6; it knows 0 and 1");
  EXPECT_EQ(said(&text, 1, 0, 0, -1), "`threads` is -1; choose 1 to 1024, or 0 for all processors");
  EXPECT_EQ(refusal(cloze_encode(tokenizer_, &text, &negative, 1, 0, 0, 1)),
            "pair 0 has -2 bytes; give 0 or more, or -1 for all up to the first NUL");
  EXPECT_EQ(refusal(cloze_tokenizer_open(nullptr)), "cloze_tokenizer_open got no path");
  EXPECT_NE(refusal(cloze_tokenizer_open("no/such/folder")).find("no/such/folder"),
            std::string::npos);
}

TEST_F(TokensTest, ThereHasToBeATokenizerAndAnEncoding) {
  const std::string no_tokenizer = "there is no tokenizer; open one with cloze_tokenizer_open";
  const cloze_text text{"d", 1};
  const int32_t id = 5;
  EXPECT_EQ(refusal(cloze_encode(nullptr, &text, nullptr, 1, 0, 0, 1)), no_tokenizer);
  EXPECT_EQ(refusal(cloze_tokenizer_size(nullptr)), no_tokenizer);
  EXPECT_EQ(refusal(cloze_token(nullptr, 1)), no_tokenizer);
  EXPECT_EQ(refusal(cloze_token_id(nullptr, "d")), no_tokenizer);
  EXPECT_EQ(refusal(cloze_count_tokens(nullptr, &text)), no_tokenizer);
  EXPECT_EQ(refusal(cloze_decode(nullptr, &id, 1, 0, nullptr, 0)), no_tokenizer);
  EXPECT_EQ(refusal(cloze_model_tokenizer(nullptr)),
            "there is no model; open one with cloze_model_open");
  const std::string no_encoding = "there is no encoding; open one with cloze_encode";
  cloze_batch batch;
  EXPECT_EQ(refusal(cloze_encoding_sequences(nullptr)), no_encoding);
  EXPECT_EQ(refusal(cloze_encoding_tokens(nullptr)), no_encoding);
  EXPECT_EQ(refusal(cloze_encoding_lengths(nullptr)), no_encoding);
  EXPECT_EQ(refusal(cloze_encoding_cut(nullptr)), no_encoding);
  EXPECT_EQ(refusal(cloze_encoding_invalid(nullptr)), no_encoding);
  EXPECT_EQ(refusal(cloze_encoding_ids(nullptr)), no_encoding);
  EXPECT_EQ(refusal(cloze_encoding_types(nullptr)), no_encoding);
  EXPECT_EQ(refusal(cloze_encoding_special(nullptr)), no_encoding);
  EXPECT_EQ(refusal(cloze_encoding_begins(nullptr)), no_encoding);
  EXPECT_EQ(refusal(cloze_encoding_ends(nullptr)), no_encoding);
  EXPECT_EQ(refusal(cloze_encoding_batch(nullptr, &batch)), no_encoding);
  const Encoding one = encoded(tokenizer_, {"d"});
  EXPECT_EQ(refusal(cloze_encoding_batch(one.get(), nullptr)), "cloze_encoding_batch got no batch");
  cloze_tokenizer_close(nullptr);
  cloze_encoding_close(nullptr);
}

}  // namespace
}  // namespace cloze

#include "data/token_store/token_shard.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "data/corpus/array_corpus.h"

namespace cloze::data {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<int32_t>;

constexpr std::string_view kKey = "0123456789abcdef0123456789abcdef";

class TokenShardTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / "cloze_token_shard_test";
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Not synced, and not written over, which some file systems sync: there are thousands.
  fs::path write(std::string_view bytes) const {
    const fs::path path = folder_ / "a.tokens";
    fs::remove(path);
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  fs::path folder_;
};

// Documents of 1, 2, 3, ... sentences, of 1, 2, 3, ... tokens.
MemoryCorpus stepped_corpus(int64_t vocabulary_size, int64_t documents) {
  MemoryCorpus corpus(vocabulary_size);
  int32_t id = 0;
  for (int64_t d = 0; d < documents; ++d) {
    for (int64_t s = 0; s <= d; ++s) {
      Ids ids;
      for (int64_t t = 0; t <= s; ++t) ids.push_back(id++ % static_cast<int32_t>(vocabulary_size));
      corpus.append_sentence(ids);
    }
    corpus.end_document();
  }
  return corpus;
}

TEST_F(TokenShardTest, HoldsWhatWasWritten) {
  for (int64_t vocabulary_size : {30522, 119547}) {
    const MemoryCorpus corpus = stepped_corpus(vocabulary_size, 80);
    const TokenShard shard(write(token_shard_bytes(corpus, kKey, 1234, 5)));
    EXPECT_EQ(shard.header().documents, corpus.documents());
    EXPECT_EQ(shard.header().sentences, corpus.sentences());
    EXPECT_EQ(shard.header().tokens, corpus.tokens());
    EXPECT_EQ(shard.header().bytes_per_id, vocabulary_size > 65536 ? 4 : 2);
    EXPECT_EQ(shard.header().text_bytes, 1234);
    EXPECT_EQ(shard.header().invalid_utf8, 5);
    EXPECT_EQ(shard.header().key, kKey);
    shard.verify();
    for (int64_t d = 0; d < corpus.documents(); ++d) {
      ASSERT_EQ(shard.sentences_in(d), corpus.sentences_in(d));
      ASSERT_EQ(shard.tokens_in(d), corpus.tokens_in(d));
      Ids expected, ids;
      corpus.append_ids(d, 0, corpus.sentences_in(d), expected);
      for (int64_t s = 0; s < shard.sentences_in(d); ++s) {
        ASSERT_EQ(shard.tokens_before(d, s), std::ssize(ids));
        const int64_t end = shard.tokens_before(d, s + 1);
        shard.append_tokens(d, shard.tokens_before(d, s), end, ids);
      }
      ASSERT_EQ(ids, expected);
    }
  }
}

TEST_F(TokenShardTest, ADamagedBlockIsFoundWhenItIsRead) {
  const MemoryCorpus corpus = stepped_corpus(30522, 100);  // 171,700 tokens, six blocks
  std::string bytes = token_shard_bytes(corpus, kKey, 1, 0);
  bytes[bytes.size() - 4096] ^= 1;  // among the last ids
  const TokenShard shard(write(bytes));
  Ids ids;
  shard.append_tokens(0, 0, 1, ids);
  EXPECT_EQ(ids, (Ids{0}));
  EXPECT_THROW(shard.append_tokens(99, 0, shard.tokens_in(99), ids), DataError);
  EXPECT_THROW(shard.verify(), DataError);
}

TEST_F(TokenShardTest, EveryDamagedByteAndEveryTruncationIsFound) {
  const std::string good = token_shard_bytes(stepped_corpus(30522, 6), kKey, 1, 0);
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bytes = good;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
    EXPECT_THROW(TokenShard(write(bytes)).verify(), DataError) << "byte " << i;
    EXPECT_THROW(TokenShard(write(good.substr(0, i))).verify(), DataError) << i << " bytes";
  }
}

}  // namespace
}  // namespace cloze::data

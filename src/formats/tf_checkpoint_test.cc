#include "formats/tf_checkpoint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/data_folder_test.h"
#include "base/error.h"
#include "base/philox.h"
#include "formats/crc32c.h"
#include "formats/sorted_table.h"
#include "platform/files/atomic_file.h"
#include "tf_bundle.pb.h"

namespace cloze::formats {
namespace {

namespace fs = std::filesystem;

// Made by scripts/make_tf_checkpoint_fixtures.
const fs::path kFixture =
    fs::path(CLOZE_SOURCE_DIR) / "tests/fixtures/tf_checkpoint/google/bert_model.ckpt";
constexpr const char* kDataSuffix = ".data-00000-of-00001";

fs::path with(const fs::path& prefix, const char* suffix) { return prefix.string() + suffix; }

const TensorView& find(const TfCheckpoint& checkpoint, std::string_view name) {
  const auto found = std::ranges::find(checkpoint.tensors(), name, &TensorView::name);
  if (found == checkpoint.tensors().end()) throw std::out_of_range(std::string(name));
  return *found;
}

class TfCheckpointTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / "cloze_tf_checkpoint_test";
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path store(const std::string& index, const std::string& data) const {
    const fs::path prefix = folder_ / "m.ckpt";
    for (const auto& [suffix, bytes] :
         {std::pair(".index", &index), std::pair(kDataSuffix, &data)}) {
      fs::remove(with(prefix, suffix));  // some file systems sync what is written over
      std::ofstream(with(prefix, suffix), std::ios::binary) << *bytes;
    }
    return prefix;
  }
  std::string refusal(const std::string& index, const std::string& data) const {
    const fs::path prefix = store(index, data);
    try {
      TfCheckpoint{prefix};
    } catch (const UserError& error) {
      return std::string(error.what()).substr(prefix.string().size());
    }
    return "taken";
  }
  // What is said of a checkpoint with one tensor of eight bytes.
  std::string refusal(const wire::BundleEntry& entry, const wire::BundleHeader& header) const {
    return refusal(sorted_table_text(std::vector<TableEntry>{{"", header.SerializeAsString()},
                                                             {"w", entry.SerializeAsString()}}),
                   "01234567");
  }
  void expect_rewritten_alike(const fs::path& prefix) const {
    const fs::path copy = folder_ / prefix.filename();
    const TfCheckpoint checkpoint(prefix);
    write_tf_checkpoint(copy, checkpoint.tensors());
    for (const char* suffix : {".index", kDataSuffix}) {
      EXPECT_EQ(platform::read_file(with(copy, suffix)), platform::read_file(with(prefix, suffix)))
          << suffix;
    }
  }

  fs::path folder_;
};

TEST_F(TfCheckpointTest, HoldsTensorsSlotsAndSteps) {
  const TfCheckpoint checkpoint(kFixture);
  EXPECT_EQ(checkpoint.tensors().size(), 143u);
  const TensorView& step = find(checkpoint, "global_step");
  EXPECT_EQ(step.dtype, DType::kI64);
  EXPECT_EQ(step.shape, Shape{});
  EXPECT_EQ(step.bytes[0], std::byte{1234 & 0xff});
  const TensorView& kernel = find(checkpoint, "bert/encoder/layer_1/intermediate/dense/kernel");
  EXPECT_EQ(kernel.shape, (Shape{4, 8}));
  EXPECT_EQ(find(checkpoint, kernel.name + "/adam_v").shape, kernel.shape);
}

TEST_F(TfCheckpointTest, WritesTheSameBytes) { expect_rewritten_alike(kFixture); }

TEST_F(TfCheckpointTest, ReadsAndRewritesTensorFlowsOwn) {
  const DataFolder data({"checkpoints/tf1_tiny", "checkpoints/tf1_index_only"});
  if (!data.missing().empty()) GTEST_SKIP() << data.missing();
  const fs::path folder = data / "checkpoints";
  expect_rewritten_alike(folder / "tf1_tiny/bert_model.ckpt");
  const fs::path google = folder / "tf1_index_only/uncased_L-8_H-512_A-8_bert_model.ckpt";
  EXPECT_EQ(TfCheckpointIndex(google).entries().size(), 142u);
  try {
    TfCheckpoint{google};
    FAIL() << "its data is not there";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find(google.string() + kDataSuffix + " is missing"),
              std::string::npos);
  }
}

TEST_F(TfCheckpointTest, ShardsAreReadTogether) {
  wire::BundleHeader header;
  header.set_num_shards(2);
  std::vector<TableEntry> table = {{"", header.SerializeAsString()}};
  for (int i = 0; i < 2; ++i) {
    const std::string value = i == 0 ? "abcd" : "efgh";
    wire::BundleEntry entry;
    entry.set_dtype(1);
    entry.mutable_shape();
    entry.set_shard_id(i);
    entry.set_size(4);
    entry.set_crc32c(masked_crc32c(std::as_bytes(std::span(value))));
    table.push_back({i == 0 ? "first" : "second", entry.SerializeAsString()});
    platform::write_file_atomically(folder_ / fmt::format("m.data-0000{}-of-00002", i), value);
  }
  platform::write_file_atomically(folder_ / "m.index", sorted_table_text(table));
  const TfCheckpoint checkpoint(folder_ / "m");
  EXPECT_EQ(std::memcmp(find(checkpoint, "second").bytes.data(), "efgh", 4), 0);
}

TEST_F(TfCheckpointTest, IsFoundByPrefixFileOrFolder) {
  const fs::path prefix = store(platform::read_file(with(kFixture, ".index")), "");
  for (const char* suffix : {"", ".index", ".meta", kDataSuffix}) {
    EXPECT_EQ(find_tf_checkpoint(with(prefix, suffix)), prefix) << suffix;
  }
  EXPECT_EQ(find_tf_checkpoint(folder_), prefix);
  EXPECT_EQ(find_tf_checkpoint(folder_ / "other"), std::nullopt);
  fs::copy_file(with(prefix, ".index"), folder_ / "b.ckpt-20.index");
  EXPECT_THROW(find_tf_checkpoint(folder_), UserError);
  platform::write_file_atomically(folder_ / "checkpoint",
                                  "model_checkpoint_path: \"/elsewhere/b.ckpt-20\"\n");
  EXPECT_EQ(find_tf_checkpoint(folder_), folder_ / "b.ckpt-20");
}

TEST_F(TfCheckpointTest, DamagedDataIsRefused) {
  const std::string index = platform::read_file(with(kFixture, ".index"));
  const std::string data = platform::read_file(with(kFixture, kDataSuffix));
  EXPECT_EQ(refusal(index, data), "taken");
  for (size_t i = 0; i < data.size(); i += 7) {
    std::string flipped = data;
    flipped[i] ^= 0x10;
    EXPECT_NE(refusal(index, flipped).find("does not match its bytes"), std::string::npos) << i;
    EXPECT_NE(refusal(index, data.substr(0, i)), "taken") << i;
  }
}

TEST_F(TfCheckpointTest, DamagedIndexesAreRefused) {
  const std::string index = platform::read_file(with(kFixture, ".index"));
  PhiloxStream random(1, 0);
  for (size_t size = 0; size < index.size(); size += 5) {
    const fs::path prefix = store(index.substr(0, size), "");
    EXPECT_THROW(TfCheckpointIndex{prefix}, DataError) << size;
    std::string flipped = index;
    flipped[size] ^= static_cast<char>(1 << random.below(8));
    store(flipped, "");
    try {
      EXPECT_EQ(TfCheckpointIndex(prefix).entries().size(), 143u) << "the footer's padding";
    } catch (const DataError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with(prefix.string())) << error.what();
    }
  }
}

// Indexes with correct CRCs and impossible contents.
TEST_F(TfCheckpointTest, LyingEntriesAreRefused) {
  wire::BundleHeader header;
  header.set_num_shards(1);
  wire::BundleEntry entry;
  entry.set_dtype(1);
  entry.mutable_shape()->add_dim()->set_size(2);
  entry.set_size(8);
  const auto said = [&](auto&& change) {
    wire::BundleEntry changed = entry;
    change(changed);
    return refusal(changed, header);
  };
  EXPECT_EQ(said([](auto&) {}),
            ".data-00000-of-00001 at byte 0: the CRC of w does not match its bytes; copy the file "
            "again");
  EXPECT_EQ(said([](auto& e) { e.set_offset(1); }),
            ".data-00000-of-00001 has 8 bytes, but w is at 1 to 9; is the file cut short?");
  EXPECT_EQ(said([](auto& e) { e.set_offset(INT64_MAX); }).find(".data"), 0u);
  EXPECT_EQ(said([](auto& e) { e.set_offset(-1); }),
            ".index: w: has an offset or a size below zero");
  EXPECT_EQ(said([](auto& e) { e.set_size(4); }), ".index: w: f32 [2] does not take 4 bytes");
  EXPECT_EQ(said([](auto& e) { e.mutable_shape()->add_dim()->set_size(INT64_MAX); }),
            ".index: w: its shape overflows");
  EXPECT_EQ(said([](auto& e) { e.mutable_shape()->mutable_dim(0)->set_size(-2); }),
            ".index: w: its shape overflows");
  EXPECT_EQ(said([](auto& e) { e.mutable_shape()->set_unknown_rank(true); }),
            ".index: w: its shape is unknown");
  EXPECT_EQ(said([](auto& e) { e.set_dtype(77); }),
            ".index: w: is of dtype 77, which is not known");
  EXPECT_EQ(said([](auto& e) { e.set_shard_id(1); }), ".index: w: is in shard 1 of 1");
  EXPECT_EQ(said([](auto& e) { e.add_slices(); }),
            ".index: w: is partitioned into slices, which is not supported; save it unpartitioned");
  header.set_num_shards(2);
  EXPECT_EQ(said([](auto&) {}).find(".data-00000-of-00002 is missing"), 0u);
  header.set_num_shards(10'001);
  EXPECT_EQ(said([](auto&) {}), ".index: has 10001 shards; 1 to 10000 are possible");
  header.set_endianness(1);
  EXPECT_EQ(said([](auto&) {}), ".index: was written in big-endian byte order; save it again");
}

TEST_F(TfCheckpointTest, WhatIsNoNumberIsListed) {
  wire::BundleHeader header;
  header.set_num_shards(1);
  wire::BundleEntry entry;
  entry.set_dtype(7);
  const fs::path prefix =
      store(sorted_table_text(std::vector<TableEntry>{{"", header.SerializeAsString()},
                                                      {"text", entry.SerializeAsString()}}),
            "");
  EXPECT_EQ(TfCheckpoint(prefix).other_entries(), std::vector<std::string>{"text (string)"});
}

}  // namespace
}  // namespace cloze::formats

#include "formats/wandb_run.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "platform/files/file.h"
#include "wandb.pb.h"

namespace cloze::formats {
namespace {

namespace fs = std::filesystem;

// A reader of LevelDB's log format, written for the test.
std::vector<wandb_wire::Record> records_of(const fs::path& folder) {
  std::string file;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".wandb") file = platform::read_file(entry.path());
  }
  EXPECT_EQ(file.substr(0, 7), std::string(":W&B\xe1\xbe\0", 7));
  std::vector<wandb_wire::Record> records;
  std::string whole;
  for (size_t at = 7; at < file.size();) {
    if (32768 - at % 32768 < 7) {
      at += 32768 - at % 32768;
      continue;
    }
    uint32_t checksum = 0;
    uint16_t size = 0;
    std::memcpy(&checksum, file.data() + at, 4);
    std::memcpy(&size, file.data() + at + 4, 2);
    const std::string typed = file.substr(at + 6, size + 1u);
    EXPECT_EQ(typed.size(), size + 1u);
    EXPECT_EQ(crc32(0, reinterpret_cast<const Bytef*>(typed.data()), size + 1u), checksum);
    EXPECT_LE(at % 32768 + 7 + size, 32768u) << "a chunk stays in its block";
    const char type = typed[0];
    EXPECT_EQ(type == 1 || type == 2, whole.empty()) << int{type};
    whole += typed.substr(1);
    if (type == 1 || type == 4) {
      EXPECT_TRUE(records.emplace_back().ParseFromString(whole));
      whole.clear();
    }
    at += 7u + size;
  }
  EXPECT_TRUE(whole.empty());
  return records;
}

class WandbRunTest : public testing::Test {
 protected:
  WandbRunTest() { fs::remove_all(parent_); }
  ~WandbRunTest() override { fs::remove_all(parent_); }
  fs::path parent_ = testing::TempDir() + "wandb_run_test";
};

TEST_F(WandbRunTest, HoldsTheRunItsHistoryAndItsEnd) {
  WandbRun run(parent_, "cloze", "tiny", {{"seed", 7}, {"optimizer", "lamb"}}, 0);
  run.write_history(1, {{"loss/MLM", 9.5}});
  run.write_history(2, {{"loss/MLM", nullptr}});
  run.write_exit(0);
  const auto records = records_of(run.folder());
  ASSERT_EQ(records.size(), 8u);
  EXPECT_TRUE(records[0].has_header());
  EXPECT_EQ(records[1].run().project(), "cloze");
  EXPECT_EQ(records[1].run().display_name(), "tiny");
  EXPECT_EQ(records[1].run().config().update(1).key(), "optimizer");
  EXPECT_EQ(records[1].run().config().update(1).value_json(), "\"lamb\"");
  EXPECT_FALSE(records[1].run().resumed());
  EXPECT_EQ(records[2].history().step().num(), 1);
  EXPECT_EQ(records[2].history().item(0).key(), "loss/MLM");
  EXPECT_EQ(records[2].history().item(0).value_json(), "9.5");
  EXPECT_EQ(records[3].summary().update(0).value_json(), "9.5");
  EXPECT_EQ(records[4].history().item(0).value_json(), "null");
  EXPECT_TRUE(records[6].has_exit());
  EXPECT_TRUE(records[7].has_footer());
  for (size_t i = 1; i < records.size(); ++i) EXPECT_EQ(records[i].num(), int64_t(i));
  EXPECT_NE(platform::read_file(run.folder() / "files" / "config.yaml").find("seed:"),
            std::string::npos);
}

// Records of every size up to more than two blocks, so that they begin and end everywhere in a
// block.
TEST_F(WandbRunTest, RecordsCrossBlocks) {
  WandbRun run(parent_, "cloze", "", {}, 0);
  std::vector<int> sizes;
  for (int size = 1; size < 70'000; size = size * 9 / 7 + 1) sizes.push_back(size);
  for (int fill = 32'600; fill < 32'700; ++fill) sizes.push_back(fill);
  for (const int size : sizes) {
    run.write_history(size, {{"text", std::string(static_cast<size_t>(size), 'x')}});
  }
  const auto records = records_of(run.folder());
  ASSERT_EQ(records.size(), 2 + 2 * sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(records[2 + 2 * i].history().item(0).value_json().size(), size_t(sizes[i]) + 2);
  }
}

TEST_F(WandbRunTest, AResumedRunKeepsItsId) {
  const WandbRun first(parent_, "cloze", "tiny", {}, 0);
  const WandbRun second(parent_, "cloze", "tiny", {}, 5);
  const WandbRun other(parent_, "cloze", "tiny", {}, 0);
  const auto id = [](const WandbRun& run) { return records_of(run.folder())[1].run().run_id(); };
  EXPECT_EQ(id(first), id(second));
  EXPECT_NE(first.folder(), second.folder());
  EXPECT_NE(id(first), id(other));
  const auto run = records_of(second.folder())[1].run();
  EXPECT_TRUE(run.resumed());
  EXPECT_EQ(run.starting_step(), 5);
}

}  // namespace
}  // namespace cloze::formats

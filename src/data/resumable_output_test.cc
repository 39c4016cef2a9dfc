#include "data/resumable_output.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"

namespace cloze::data {
namespace {

namespace fs = std::filesystem;

class ResumableOutputTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  ResumableWork work(int seed = 7) const {
    return {.output_files = {folder_ / "a", folder_ / "b"},
            .scratch_names = {"way"},
            .identity = {{"--seed", seed}, {"--remask", true}}};
  }
  std::string refusal(const ResumableWork& work) const {
    try {
      const ResumableOutput output(work);
    } catch (const UserError& error) {
      return error.what();
    }
    return "accepted";
  }
  std::string journal() const { return (folder_ / "a.journal.partial").string(); }
  // As a process would leave it that was killed after its first save.
  void interrupt() const {
    ResumableOutput output(work());
    EXPECT_TRUE(output.state().is_null());
    output.output(0).append("one ");
    output.output(1).append("uno ");
    output.scratch(0).append("way ");
    output.save({{"next", 2}});
    output.output(0).append("lost");
    output.output(0).sync();
  }

  const fs::path folder_ = fs::path(testing::TempDir()) /
                           (std::string("cloze_resumable_output_test_") +
                            testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(ResumableOutputTest, GoesOnAfterTheLastSave) {
  interrupt();
  {
    ResumableOutput output(work());
    EXPECT_EQ(output.state()["next"], 2);
    EXPECT_EQ(output.scratch(0).map().text(), "way ");
    output.output(0).append("two");
    output.output(1).append("due");
    output.commit({{"next", 3}});
  }
  EXPECT_EQ(platform::read_file(folder_ / "a"), "one two");
  EXPECT_EQ(platform::read_file(folder_ / "b"), "uno due");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 2) << "all else is gone";
}

TEST_F(ResumableOutputTest, WhatIsNotSavedLeavesNothing) {
  {
    ResumableOutput output(work());
    output.output(0).append("one");
    output.output(0).sync();
  }
  EXPECT_TRUE(fs::is_empty(folder_));
  interrupt();
  ResumableOutput(work()).discard();
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(ResumableOutputTest, OtherWorkIsRefusedWithWhatDiffers) {
  interrupt();
  EXPECT_EQ(refusal(work(8)),
            journal() +
                " belongs to interrupted work with --seed 7, this command has 8; give "
                "the same command to continue, or delete that file to start over");
  ResumableWork fewer = work();
  fewer.output_files.pop_back();
  EXPECT_NE(refusal(fewer).find("--output-file [\"a\",\"b\"], this command has [\"a\"]"),
            std::string::npos)
      << refusal(fewer);
  EXPECT_EQ(refusal(work()), "accepted");
  fs::remove(journal());
  EXPECT_TRUE(ResumableOutput(work(8)).state().is_null());
}

TEST_F(ResumableOutputTest, DamageIsNamed) {
  interrupt();
  fs::resize_file(folder_ / "b.partial", 3);
  EXPECT_EQ(refusal(work()), journal() + ": records 4 bytes of " +
                                 (folder_ / "b.partial").string() +
                                 ", which has 3; delete it to start over");
  platform::write_file_atomically(journal(), "{\"work\": {}}");
  EXPECT_NE(refusal(work()).find("delete it to start over"), std::string::npos) << refusal(work());
  platform::write_file_atomically(journal(), "{\"wo");
  EXPECT_NE(refusal(work()).find(journal()), std::string::npos) << refusal(work());
}

// A process that dies while it gives the files their names.
TEST_F(ResumableOutputTest, CommittingGoesOnToo) {
  interrupt();
  const fs::path kept = folder_ / "kept";
  fs::copy(journal(), kept);
  {
    ResumableOutput output(work());
    output.output(1).append("due");
    output.commit({{"next", 3}});
  }
  std::string complete = platform::read_file(kept);
  complete.replace(complete.find("\"is_complete\": false"), 20, "\"is_complete\": true");
  platform::write_file_atomically(journal(), complete);
  fs::remove(kept);
  fs::rename(folder_ / "b", folder_ / "b.partial");
  {
    ResumableOutput output(work());
    EXPECT_TRUE(output.is_complete());
    output.commit(output.state());
  }
  EXPECT_EQ(platform::read_file(folder_ / "a"), "one ");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 2);
}

TEST_F(ResumableOutputTest, FoldersThatWereMadeGoWithTheFiles) {
  ResumableWork deep = work();
  deep.output_files.back() = folder_ / "new" / "deep" / "b";
  { const ResumableOutput output(deep); }
  EXPECT_TRUE(fs::is_empty(folder_));
  ResumableOutput(deep).commit({{"next", 1}});
  EXPECT_TRUE(fs::exists(deep.output_files.back()));
}

}  // namespace
}  // namespace cloze::data

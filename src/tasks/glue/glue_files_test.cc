#include "tasks/glue/glue_task.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "platform/files/atomic_file.h"

namespace cloze::tasks {
namespace {

namespace fs = std::filesystem;

class GlueFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(root_);
    for (const char* path : {"MNLI/train.tsv", "MNLI/dev_matched.tsv", "MNLI/dev_mismatched.tsv",
                             "MRPC/test.tsv", "diagnostic/diagnostic.tsv"}) {
      fs::create_directories((root_ / path).parent_path());
      platform::write_file_atomically(root_ / path, "");
    }
  }
  std::string found(const char* task, GlueSplit split, const char* folder = "") const {
    return glue_file(root_ / folder, glue_task(task), split).lexically_relative(root_).string();
  }

  fs::path root_ = testing::TempDir() + "glue_files_test";
};

TEST_F(GlueFilesTest, InTheTasksFolderOrAboveIt) {
  EXPECT_EQ(found("MNLI", GlueSplit::kDev), "MNLI/dev_matched.tsv");
  EXPECT_EQ(found("MNLI-mm", GlueSplit::kDev), "MNLI/dev_mismatched.tsv");
  EXPECT_EQ(found("MNLI-mm", GlueSplit::kTrain, "MNLI"), "MNLI/train.tsv");
  EXPECT_EQ(found("mrpc", GlueSplit::kTest, "MRPC"), "MRPC/test.tsv");
  EXPECT_EQ(found("AX", GlueSplit::kTest), "diagnostic/diagnostic.tsv");
}

TEST_F(GlueFilesTest, WhatIsMissingIsNamed) {
  try {
    found("MRPC", GlueSplit::kDev);
    FAIL();
  } catch (const UserError& error) {
    const std::string root = root_.string();
    EXPECT_EQ(error.what(), "no dev file of MRPC: there is none of " + root + "/MRPC/dev.tsv, " +
                                root + "/dev.tsv; name the task's folder or the one above it");
  }
  EXPECT_THROW(found("AX", GlueSplit::kTrain), UserError);
  EXPECT_FALSE(find_glue_file(root_, glue_task("AX"), GlueSplit::kTrain));
  EXPECT_FALSE(find_glue_file(root_, glue_task("MRPC"), GlueSplit::kDev));
}

}  // namespace
}  // namespace cloze::tasks

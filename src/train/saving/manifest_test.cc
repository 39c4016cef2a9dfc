#include "train/saving/manifest.h"

#include <gtest/gtest.h>

#include "platform/files/atomic_file.h"
#include "platform/files/file.h"

namespace cloze::train {
namespace {

namespace fs = std::filesystem;

class ManifestTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    platform::write_file_atomically(folder_ / "a", "123456789");
    write_manifest(folder_, 7);
  }
  void TearDown() override { fs::remove_all(folder_); }
  const fs::path folder_ = testing::TempDir() + "manifest_test";
};

TEST_F(ManifestTest, HoldsTheKnownChecksum) {
  EXPECT_NE(platform::read_file(folder_ / kManifestName).find("\"e3069283\""), std::string::npos);
  EXPECT_EQ(find_damage(folder_), std::nullopt);
}

TEST_F(ManifestTest, FindsEachKindOfDamage) {
  platform::write_file_atomically(folder_ / "a", "12345678");
  EXPECT_EQ(find_damage(folder_), "a has 8 bytes instead of 9");
  platform::write_file_atomically(folder_ / "a", "123456780");
  EXPECT_EQ(find_damage(folder_), "the checksum of a is wrong");
  fs::remove(folder_ / "a");
  EXPECT_EQ(find_damage(folder_), "a is missing");
  fs::remove(folder_ / kManifestName);
  EXPECT_EQ(find_damage(folder_), "it has no manifest.json");
}

TEST_F(ManifestTest, HasAChecksumOfItsOwn) {
  const std::string text = platform::read_file(folder_ / kManifestName);
  const auto damage_of = [this](const std::string& changed) {
    platform::write_file_atomically(folder_ / kManifestName, changed);
    return find_damage(folder_).value_or("none");
  };
  std::string other_step = text;
  other_step.replace(text.find("\"step\": 7"), 9, "\"step\": 6");
  EXPECT_EQ(damage_of(other_step), "the checksum of manifest.json is wrong");
  EXPECT_EQ(damage_of(text.substr(0, text.size() - 1)), "the checksum of manifest.json is wrong");
  EXPECT_EQ(damage_of(text), "none");
}

// Version 1, which had none.
TEST_F(ManifestTest, OneWithoutChecksumIsRead) {
  platform::write_file_atomically(folder_ / kManifestName,
                                  R"({"schema": "cloze.checkpoint", "version": 1, "step": 7,
                                   "files": [{"name": "a", "bytes": 9, "crc32c": "e3069283"}]})");
  EXPECT_EQ(find_damage(folder_), std::nullopt);
}

TEST_F(ManifestTest, DoesNotTrustItself) {
  const auto damage_of = [this](const char* text) {
    platform::write_file_atomically(folder_ / kManifestName, text);
    return find_damage(folder_).value_or("none");
  };
  EXPECT_NE(damage_of("{\"schema\"").find("manifest.json:1:"), std::string::npos);
  EXPECT_EQ(damage_of("{}").find("manifest.json lacks something"), 0u);
  EXPECT_EQ(damage_of("[]").find("manifest.json lacks something"), 0u);
  EXPECT_EQ(damage_of(R"({"schema": "cloze.checkpoint", "version": 9, "files": []})"),
            "manifest.json is of another version (9)");
  EXPECT_EQ(damage_of(R"({"schema": "cloze.checkpoint", "version": 1,
                          "files": [{"name": "../a", "bytes": 1, "crc32c": ""}]})"),
            "manifest.json names a file elsewhere: ../a");
  EXPECT_EQ(damage_of(R"({"schema": "cloze.checkpoint", "version": 1,
                          "files": [{"name": "a/../b", "bytes": 1, "crc32c": ""}]})"),
            "manifest.json names a file elsewhere: a/../b");
}

TEST_F(ManifestTest, KnowsFilesInFolders) {
  fs::remove(folder_ / kManifestName);
  fs::create_directory(folder_ / "1_Pooling");
  platform::write_file_atomically(folder_ / "1_Pooling" / "config.json", "{}");
  write_manifest(folder_, 3);
  EXPECT_EQ(find_damage(folder_), std::nullopt);
  platform::write_file_atomically(folder_ / "1_Pooling" / "config.json", "[]");
  EXPECT_EQ(find_damage(folder_), "the checksum of 1_Pooling/config.json is wrong");
}

}  // namespace
}  // namespace cloze::train

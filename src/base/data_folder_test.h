// Where tests find real data: the folder that CLOZE_DATA names, with what tests/data_manifest.tsv
// lists. Those that need it skip without it:
//
//   const DataFolder data({"golden/tfrecord"});
//   if (!data.missing().empty()) GTEST_SKIP() << data.missing();
//   read(data / "golden/tfrecord/sample_text.txt");
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace cloze {

class DataFolder {
 public:
  // `entries`: those that the test reads; one that the manifest lacks fails the test.
  explicit DataFolder(const std::vector<std::string>& entries) {
    const char* folder = std::getenv("CLOZE_DATA");
    folder_ = folder == nullptr ? "" : folder;
    for (const std::string& entry : entries) check(entry);
  }

  // Which entries are not there, and where they come from; empty when all are.
  const std::string& missing() const { return missing_; }
  std::filesystem::path operator/(const std::string& path) const { return folder_ / path; }

 private:
  void check(const std::string& entry) {
    const std::string line = manifest_line(entry);
    EXPECT_FALSE(line.empty()) << entry << " is not in tests/data_manifest.tsv";
    if (!folder_.empty() && std::filesystem::exists(folder_ / entry)) return;
    missing_ += (folder_.empty() ? "CLOZE_DATA is not set; the test needs " : "CLOZE_DATA lacks ") +
                entry + ": " + line.substr(line.rfind('\t') + 1) + "\n";
  }

  static std::string manifest_line(const std::string& entry) {
    std::ifstream manifest(CLOZE_SOURCE_DIR "/tests/data_manifest.tsv");
    for (std::string line; std::getline(manifest, line);) {
      if (line.starts_with(entry + "\t")) return line;
    }
    return "";
  }

  std::filesystem::path folder_;
  std::string missing_;
};

}  // namespace cloze

// A run of Weights & Biases, written offline: the folder that `wandb sync FOLDER` sends.
//
//   PARENT/wandb/offline-run-YYYYMMDD_HHMMSS-ID/run-ID.wandb     the records
//                                              /files/config.yaml, wandb-metadata.json
//
// A file of records is ":W&B", u16 0xBEE1, u8 0 and then LevelDB's log format: blocks of 32 KiB, in
// them chunks of u32 checksum, u16 length, u8 type (1 full, 2 first, 3 middle, 4 last) and the
// bytes. The checksum is CRC-32 (of zlib, not Castagnoli's) of the type and the bytes. A record is
// a message of wandb.proto. Everything is little endian.
//
// Each record is in the file when its function returns, with the summary so far, so the run of a
// killed process can be sent as well.
// Errors: UserError or EnvironmentError, as of make_writable_directory, when it cannot be written.
// Source: wandb/sdk/internal/datastore.py of the package wandb 0.19; LevelDB, doc/log_format.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "formats/json.h"
#include "platform/files/append_file.h"

namespace cloze::formats {

class WandbRun {
 public:
  // With first_step > 0 it takes the id of the newest run in the folder, so that both are one run.
  WandbRun(const std::filesystem::path& parent, const std::string& project, const std::string& name,
           const Json& config, int64_t first_step);

  // {"loss/MLM": 1.5, ...}; becomes the summary too.
  void write_history(int64_t step, const Json& values);
  void write_exit(int exit_code);

  const std::filesystem::path& folder() const { return folder_; }

 private:
  double runtime_seconds() const;
  void append(std::string record);

  std::chrono::system_clock::time_point start_;
  std::filesystem::path folder_;
  std::unique_ptr<platform::AppendFile> file_;
  int64_t offset_ = 0;  // in the file
  int64_t num_records_ = 0;
};

}  // namespace cloze::formats

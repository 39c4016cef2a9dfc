// A file without a name, for what may not fit in memory: written once, read in any order, and gone
// with this object, however the process ends. EnvironmentError when the folder cannot be written to
// or is full. Reading is thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace cloze::platform {

class ScratchFile {
 public:
  explicit ScratchFile(const std::filesystem::path& folder);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  uint64_t bytes() const { return bytes_; }
  void append(std::string_view data);
  std::string read(uint64_t offset, size_t bytes) const;

 private:
  std::filesystem::path folder_;
  int descriptor_ = -1;
  uint64_t bytes_ = 0;
};

}  // namespace cloze::platform

// Bytes that have no file of their own, or may not fit in memory: what a pipe gives, what was
// decompressed or decoded. They go to a file without a name, in the folder that TMPDIR names or in
// /tmp, and are gone with it, however the process ends.
// Errors: EnvironmentError when the folder cannot be written to or is full.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "platform/descriptor.h"
#include "platform/files/file.h"

namespace cloze::platform {

class TemporaryFile {
 public:
  TemporaryFile();

  uint64_t bytes() const { return bytes_; }
  void append(std::string_view bytes);
  // Thread-safe.
  std::string read(uint64_t offset, size_t bytes) const;
  // A path by which this process can open it again, while this object lives.
  std::filesystem::path path() const;
  // Maps what was appended; the mapping outlives this object.
  MappedFile map() const { return MappedFile(path()); }

 private:
  std::filesystem::path folder_;
  Descriptor file_;
  uint64_t bytes_ = 0;
};

}  // namespace cloze::platform

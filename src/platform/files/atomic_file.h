// Files that are written whole or not at all.
// Errors: UserError or EnvironmentError that names the path and what the system said.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

#include "platform/files/buffered_file.h"

namespace cloze::platform {

// A file written under a temporary name beside its path, and published by commit():
// flush, fsync, rename, fsync of the folder. Destroyed without commit, it leaves nothing behind;
// what a killed process left of the same file is removed when the file is next written.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  void commit();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;  // empty: published
  BufferedFile file_;
};

void write_file_atomically(const std::filesystem::path& path, std::string_view text);

// Says whether AtomicFile uses such a name while it writes: PATH.tmp-PROCESS.
bool is_temporary_of_atomic_file(const std::filesystem::path& path);

}  // namespace cloze::platform

// A file that grows over hours, under the name PATH.partial. What was synced outlives the process,
// however it ends, and another process can go on from there; commit() gives the file its name. An
// empty one is removed.
// Errors: those of AtomicFile; EnvironmentError when another process writes the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "platform/files/buffered_file.h"
#include "platform/files/file.h"

namespace cloze::platform {

inline constexpr const char* kPartialSuffix = ".partial";

class PartialFile {
 public:
  // Opens it with what an earlier process left.
  explicit PartialFile(std::filesystem::path path);
  ~PartialFile();
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  const std::filesystem::path& partial_path() const { return partial_; }
  uint64_t bytes() const { return bytes_; }
  // Cuts the file to its first `bytes`; it must have at least as many.
  void keep(uint64_t bytes);
  void append(std::string_view bytes);
  void sync();
  // Maps what is in the file now.
  MappedFile map();
  // The last call is one of these, if any.
  void commit();
  void remove();

 private:
  std::filesystem::path path_;
  std::filesystem::path partial_;
  BufferedFile file_;
  uint64_t bytes_ = 0;  // with those in the buffer
};

// The name of a file while it is written.
std::filesystem::path partial_path_of(const std::filesystem::path& path);

}  // namespace cloze::platform

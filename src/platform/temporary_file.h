// Bytes that have no file to be mapped from: what a pipe gives, what was decompressed. They go to
// a file without a name, in the folder that TMPDIR names or in /tmp, which is gone with its
// mapping.
// Errors: EnvironmentError when the folder cannot be written to or is full.
#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <string_view>

#include "platform/file.h"

namespace cloze::platform {

class TemporaryFile {
 public:
  TemporaryFile();
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::filesystem::path& path() const { return path_; }  // until it is mapped
  void write(std::string_view bytes);
  void flush();  // for another reader of the path
  // What was written, or what another writer put at the path.
  MappedFile map();

 private:
  std::filesystem::path path_;
  std::ofstream stream_;
};

// "-": standard input.
bool is_standard_input(const std::filesystem::path& path);

// Reads a pipe, a device or standard input to its end; UserError when it cannot be read.
void read_stream(const std::filesystem::path& path,
                 const std::function<void(std::string_view)>& visit);

}  // namespace cloze::platform

// An open file that is written through a buffer: small pieces are joined, and a piece as large as
// the buffer goes to the system as it is.
// Errors: those of write_all() and fsync(2), with the path that the file is known by.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "platform/descriptor.h"

namespace cloze::platform {

class BufferedFile {
 public:
  // `path` is for messages.
  BufferedFile(Descriptor file, std::filesystem::path path);

  const Descriptor& descriptor() const { return file_; }
  bool has_unwritten() const { return !buffer_.empty(); }
  void write(std::string_view bytes);
  // Hands all that was written to the system.
  void flush();
  // Puts all that was written on the disk.
  void sync();
  void close() { file_.close(); }

 private:
  Descriptor file_;
  std::filesystem::path path_;
  std::string buffer_;
};

}  // namespace cloze::platform

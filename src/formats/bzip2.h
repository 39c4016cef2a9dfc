// bzip2: a compressed file read as a stream, of one member or of many (multistream dumps).
// Source: sourceware.org/bzip2, manual, "Programming with libbzip2", low-level interface.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "platform/file.h"

namespace cloze::formats {

class Bzip2File {
 public:
  explicit Bzip2File(const std::filesystem::path& path);
  ~Bzip2File();

  // The next bytes, about a megabyte; empty at the end. DataError that names the file and the
  // compressed offset where it breaks or ends too soon.
  std::string_view read();
  uint64_t compressed_bytes() const;  // consumed so far
  uint64_t file_bytes() const { return file_.bytes().size(); }

 private:
  struct Stream;

  [[noreturn]] void fail(const char* what) const;

  std::filesystem::path path_;
  platform::MappedFile file_;
  std::unique_ptr<Stream> stream_;
  std::string block_;
};

}  // namespace cloze::formats

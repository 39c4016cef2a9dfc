// Files read and mapped.
// Errors: UserError or EnvironmentError that names the path and what the system said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "platform/memory.h"

namespace cloze::platform {

// The size of a regular file. UserError when it is not one.
int64_t file_bytes(const std::filesystem::path& path);

// The whole file. UserError when it does not exist or cannot be read.
std::string read_file(const std::filesystem::path& path);

// Calls body(bytes) for the file piece by piece, in order, with little of it in memory at a time.
void read_in_pieces(const std::filesystem::path& path,
                    const std::function<void(std::span<const std::byte>)>& body);

// "-": standard input.
bool is_standard_input(const std::filesystem::path& path);

// Reads a pipe, a device or standard input to its end; UserError when it cannot be read.
void read_stream(const std::filesystem::path& path,
                 const std::function<void(std::string_view)>& visit);

// A regular file mapped read-only for as long as this object lives. UserError for a pipe or a
// device: read_stream() reads these.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);

  std::span<const std::byte> bytes() const { return {pages_.get(), pages_.get_deleter().bytes}; }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(pages_.get()), pages_.get_deleter().bytes};
  }
  // Releases what was read of it so far from the memory of this process; it comes back from the
  // system's cache, or the file, when it is read again.
  void release_memory() const;

 private:
  Pages pages_;
};

}  // namespace cloze::platform

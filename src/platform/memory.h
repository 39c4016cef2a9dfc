// Large, zeroed blocks of memory, page-aligned and asked to use huge pages; and what the process
// uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace cloze::platform {

class MemoryBlock {
 public:
  MemoryBlock() = default;
  // EnvironmentError that says how much was wanted when the system has no more.
  explicit MemoryBlock(size_t bytes);
  // The same in a file without a name in that folder: the system writes it there when it needs the
  // memory, and reads it again. EnvironmentError that names the folder when it has no room.
  MemoryBlock(size_t bytes, const std::filesystem::path& folder);
  ~MemoryBlock();
  MemoryBlock(MemoryBlock&& other) noexcept;
  MemoryBlock& operator=(MemoryBlock&& other) noexcept;

  std::byte* data() const { return data_; }
  size_t size() const { return bytes_; }
  // Off: whoever touches the bytes stops with a segmentation fault. They keep their values.
  void set_accessible(bool on) const;

 private:
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

// Of this process, in bytes: the memory it holds itself now, in RAM or swapped out; what is
// resident now, and the most that ever was, which count the pages of the program and of mapped
// files too; and these pages alone, which the system takes back when it needs them.
int64_t private_bytes();
int64_t resident_bytes();
int64_t resident_file_bytes();
int64_t peak_resident_bytes();

}  // namespace cloze::platform

// Large, zeroed blocks of memory, page-aligned and asked to use huge pages; and what the process
// uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

namespace cloze::platform {

// Gives mapped pages back to the system.
struct Unmap {
  size_t bytes = 0;
  void operator()(std::byte* pages) const;
};
using Pages = std::unique_ptr<std::byte, Unmap>;

class MemoryBlock {
 public:
  MemoryBlock() = default;
  // EnvironmentError that says how much was wanted when the system has no more.
  explicit MemoryBlock(size_t bytes);
  // The same in a file without a name in that folder: the system writes it there when it needs the
  // memory, and reads it again. EnvironmentError that names the folder when it has no room;
  // UserError when there is no such folder.
  MemoryBlock(size_t bytes, const std::filesystem::path& folder);

  std::byte* data() const { return pages_.get(); }
  size_t size() const { return pages_.get_deleter().bytes; }
  // Off: touching the bytes is a segmentation fault. They keep their values.
  void set_accessible(bool on) const;

 private:
  Pages pages_;
};

// The bytes that a block of so many takes.
int64_t whole_pages(int64_t bytes);

// RAM of this machine.
int64_t machine_bytes();

// Memory of this process, in bytes: what it holds itself now, in RAM or swapped out; what is
// resident now, and the most that ever was, which count the pages of the program and of mapped
// files too; and these pages alone, which the system takes back when it needs them.
int64_t private_bytes();
int64_t resident_bytes();
int64_t resident_file_bytes();
int64_t peak_resident_bytes();

}  // namespace cloze::platform

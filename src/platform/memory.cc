#include "platform/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include "base/error.h"

namespace cloze::platform {
namespace {

// A line such as "VmHWM:    123456 kB" of /proc/self/status, in bytes.
int64_t status_bytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  std::string name;
  while (status >> name) {
    int64_t kibibytes = 0;
    if (name == field && status >> kibibytes) return kibibytes * 1024;
    status.ignore(1 << 16, '\n');
  }
  return 0;
}

}  // namespace

MemoryBlock::MemoryBlock(size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  void* block = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) {
    throw_environment_error("cannot allocate {} MiB: {}; lower micro_batch_size or the model size",
                            bytes >> 20, std::strerror(errno));
  }
  ::madvise(block, bytes, MADV_HUGEPAGE);  // a hint; small pages work too
  data_ = static_cast<std::byte*>(block);
}

MemoryBlock::MemoryBlock(size_t bytes, const std::filesystem::path& folder) : bytes_(bytes) {
  if (bytes == 0) return;
  const auto require = [&](bool is_good, int error) {
    if (is_good) return;
    throw_environment_error("cannot make a file of {} MiB in {}: {}; choose a folder with room",
                            bytes >> 20, folder.string(), std::strerror(error));
  };
  const int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  require(file >= 0, errno);
  // All of it now: a disk that is full later would end the process with a signal.
  const int room = ::posix_fallocate(file, 0, static_cast<off_t>(bytes));
  void* block =
      room == 0 ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  const int error = room == 0 ? errno : room;
  ::close(file);  // the mapping keeps it
  require(block != MAP_FAILED, error);
  data_ = static_cast<std::byte*>(block);
}

MemoryBlock::~MemoryBlock() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

MemoryBlock::MemoryBlock(MemoryBlock&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

MemoryBlock& MemoryBlock::operator=(MemoryBlock&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void MemoryBlock::set_accessible(bool on) const {
  if (data_ == nullptr) return;
  if (::mprotect(data_, bytes_, on ? PROT_READ | PROT_WRITE : PROT_NONE) != 0) {
    throw_environment_error("cannot change access to {} bytes: {}", bytes_, std::strerror(errno));
  }
}

int64_t private_bytes() { return status_bytes("RssAnon:") + status_bytes("VmSwap:"); }
int64_t resident_bytes() { return status_bytes("VmRSS:"); }
int64_t resident_file_bytes() { return status_bytes("RssFile:"); }
int64_t peak_resident_bytes() { return status_bytes("VmHWM:"); }

}  // namespace cloze::platform

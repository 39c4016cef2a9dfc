#include "platform/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "base/division.h"
#include "base/error.h"
#include "platform/descriptor.h"

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

int64_t whole_pages(int64_t bytes) {
  const int64_t page = ::sysconf(_SC_PAGESIZE);
  return round_up(bytes, page);
}

void Unmap::operator()(std::byte* pages) const { ::munmap(pages, bytes); }

MemoryBlock::MemoryBlock(size_t bytes) {
  if (bytes == 0) return;
  void* block = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) {
    throw_environment_error("cannot allocate {} MiB: {}; choose smaller batches or a smaller model",
                            bytes >> 20, std::strerror(errno));
  }
  ::madvise(block, bytes, MADV_HUGEPAGE);  // a hint; small pages work too
  pages_ = Pages(static_cast<std::byte*>(block), {bytes});
}

MemoryBlock::MemoryBlock(size_t bytes, const std::filesystem::path& folder) {
  if (bytes == 0) return;
  const auto require = [&](bool is_good, int error) {
    if (is_good) return;
    const std::string problem = fmt::format("cannot make a file of {} MiB in {}: {}", bytes >> 20,
                                            folder.string(), std::strerror(error));
    if (is_about_a_path(error)) throw_user_error("{}; make the folder, or name another", problem);
    throw_environment_error("{}; choose a folder with room", problem);
  };
  const Descriptor file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  require(file.is_open(), errno);
  // All of it now: a disk that is full later would end the process with a signal.
  const int room = ::posix_fallocate(file.number(), 0, static_cast<off_t>(bytes));
  require(room == 0, room);
  // The mapping keeps the file.
  void* block = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  require(block != MAP_FAILED, errno);
  pages_ = Pages(static_cast<std::byte*>(block), {bytes});
}

void MemoryBlock::set_accessible(bool on) const {
  if (pages_ == nullptr) return;
  if (::mprotect(data(), size(), on ? PROT_READ | PROT_WRITE : PROT_NONE) != 0) {
    throw_environment_error("cannot change access to {} bytes: {}", size(), std::strerror(errno));
  }
}

int64_t machine_bytes() { return int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE); }

int64_t private_bytes() { return status_bytes("RssAnon:") + status_bytes("VmSwap:"); }
int64_t resident_bytes() { return status_bytes("VmRSS:"); }
int64_t resident_file_bytes() { return status_bytes("RssFile:"); }
int64_t peak_resident_bytes() { return status_bytes("VmHWM:"); }

}  // namespace cloze::platform

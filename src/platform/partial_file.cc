#include "platform/partial_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.h"
#include "platform/descriptor.h"

namespace cloze::platform {
namespace {

constexpr size_t kWriteBufferBytes = 1 << 20;

}  // namespace

std::filesystem::path partial_path_of(const std::filesystem::path& path) {
  std::filesystem::path partial = path;
  return partial += kPartialSuffix;
}

PartialFile::PartialFile(std::filesystem::path path)
    : path_(std::move(path)), partial_(partial_path_of(path_)) {
  check_output_path(path_);
  descriptor_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor_ < 0) throw_system_error("create", partial_);
  // File systems without locks are used without.
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(descriptor_);
    throw_environment_error("another process is writing {}; wait for it and run again",
                            path_.string());
  }
  bytes_ = std::filesystem::file_size(partial_);
}

PartialFile::~PartialFile() {
  if (descriptor_ < 0) return;
  bytes_ == 0 ? remove() : close();
}

void PartialFile::close() { ::close(std::exchange(descriptor_, -1)); }

void PartialFile::keep(uint64_t bytes) {
  CLOZE_CHECK(bytes <= bytes_ && buffer_.empty(), "{} of {} bytes", bytes, bytes_);
  if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) {
    throw_system_error("truncate", partial_);
  }
  bytes_ = bytes;
}

void PartialFile::append(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > kWriteBufferBytes) flush();
  if (bytes.size() >= kWriteBufferBytes) {
    write_all(descriptor_, bytes, partial_);
  } else {
    buffer_ += bytes;
  }
  bytes_ += bytes.size();
}

void PartialFile::flush() {
  write_all(descriptor_, buffer_, partial_);
  buffer_.clear();
}

void PartialFile::sync() {
  flush();
  if (::fsync(descriptor_) != 0) throw_system_error("sync", partial_);
}

MappedFile PartialFile::map() {
  flush();
  return MappedFile(partial_);
}

void PartialFile::commit() {
  sync();
  if (::rename(partial_.c_str(), path_.c_str()) != 0) throw_system_error("rename to", path_);
  close();
  sync_directory(folder_of(path_));
}

void PartialFile::remove() {
  ::unlink(partial_.c_str());
  close();
}

}  // namespace cloze::platform

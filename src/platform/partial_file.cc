#include "platform/partial_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "base/error.h"

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
  file_ = open_file(partial_, O_WRONLY | O_CREAT | O_APPEND, "create");
  if (!file_.lock()) {
    throw_environment_error("another process is writing {}; wait for it and run again",
                            path_.string());
  }
  bytes_ = std::filesystem::file_size(partial_);
}

PartialFile::~PartialFile() {
  if (file_.is_open() && bytes_ == 0) remove();
}

void PartialFile::keep(uint64_t bytes) {
  CLOZE_CHECK(bytes <= bytes_ && buffer_.empty(), "{} of {} bytes", bytes, bytes_);
  if (::ftruncate(file_.number(), static_cast<off_t>(bytes)) != 0) {
    throw_system_error("truncate", partial_);
  }
  bytes_ = bytes;
}

void PartialFile::append(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > kWriteBufferBytes) flush();
  if (bytes.size() >= kWriteBufferBytes) {
    write_all(file_, bytes, partial_);
  } else {
    buffer_ += bytes;
  }
  bytes_ += bytes.size();
}

void PartialFile::flush() {
  write_all(file_, buffer_, partial_);
  buffer_.clear();
}

void PartialFile::sync() {
  flush();
  if (::fsync(file_.number()) != 0) throw_system_error("sync", partial_);
}

MappedFile PartialFile::map() {
  flush();
  return MappedFile(partial_);
}

void PartialFile::commit() {
  sync();
  if (::rename(partial_.c_str(), path_.c_str()) != 0) throw_system_error("rename to", path_);
  file_.close();
  sync_directory(folder_of(path_));
}

void PartialFile::remove() {
  ::unlink(partial_.c_str());
  file_.close();
}

}  // namespace cloze::platform

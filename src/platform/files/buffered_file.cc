#include "platform/files/buffered_file.h"

#include <unistd.h>

#include <utility>

namespace cloze::platform {
namespace {

constexpr size_t kBufferBytes = 1 << 20;

}  // namespace

BufferedFile::BufferedFile(Descriptor file, std::filesystem::path path)
    : file_(std::move(file)), path_(std::move(path)) {
  buffer_.reserve(kBufferBytes);
}

void BufferedFile::write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > kBufferBytes) flush();
  if (bytes.size() >= kBufferBytes) {
    write_all(file_, bytes, path_);
  } else {
    buffer_ += bytes;
  }
}

void BufferedFile::flush() {
  write_all(file_, buffer_, path_);
  buffer_.clear();
}

void BufferedFile::sync() {
  flush();
  if (::fsync(file_.number()) != 0) throw_system_error("sync", path_);
}

}  // namespace cloze::platform

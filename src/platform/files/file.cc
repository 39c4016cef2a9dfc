#include "platform/files/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "base/error.h"
#include "platform/descriptor.h"

namespace cloze::platform {
namespace {

namespace fs = std::filesystem;

constexpr size_t kReadBufferBytes = 1 << 18;  // stays in the L2 cache

Descriptor open_for_reading(const fs::path& path) {
  Descriptor file = open_file(path, O_RDONLY, "open");
  struct stat status;
  if (::fstat(file.number(), &status) == 0 && S_ISDIR(status.st_mode)) {
    throw_user_error("cannot read {}: it is a folder; name a file", path.string());
  }
  return file;
}

struct stat status_of(const Descriptor& file, const fs::path& path) {
  struct stat status;
  if (::fstat(file.number(), &status) != 0) throw_system_error("stat", path);
  return status;
}

[[noreturn]] void refuse_stream(const fs::path& path) {
  throw_user_error("cannot read {}: it is a pipe or a device; write it to a file first",
                   path.string());
}

}  // namespace

int64_t file_bytes(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_directory(status) && !fs::is_regular_file(status)) {
    refuse_stream(path);
  }
  const uintmax_t bytes = fs::file_size(path, error);
  if (error) {
    throw_user_error("cannot read {}: {}; check the path", path.string(), error.message());
  }
  return static_cast<int64_t>(bytes);
}

bool is_standard_input(const std::filesystem::path& path) { return path == "-"; }

void read_stream(const std::filesystem::path& path,
                 const std::function<void(std::string_view)>& visit) {
  const bool is_open = is_standard_input(path);
  std::FILE* const file = is_open ? stdin : std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    throw_user_error("cannot open {}: {}; check the path", path.string(), std::strerror(errno));
  }
  const auto close = [&](std::FILE* stream) {
    if (!is_open) std::fclose(stream);
  };
  const std::unique_ptr<std::FILE, decltype(close)> closer(file, close);
  std::vector<char> buffer(kReadBufferBytes);
  while (const size_t bytes = std::fread(buffer.data(), 1, buffer.size(), file)) {
    visit({buffer.data(), bytes});
  }
  if (std::ferror(file) != 0) {
    throw_user_error("cannot read {}: {}; check the path", path.string(), std::strerror(errno));
  }
}

void read_in_pieces(const fs::path& path,
                    const std::function<void(std::span<const std::byte>)>& body) {
  const Descriptor file = open_for_reading(path);
  std::vector<std::byte> buffer(kReadBufferBytes);
  while (true) {
    const ssize_t got = TEMP_FAILURE_RETRY(::read(file.number(), buffer.data(), buffer.size()));
    if (got < 0) throw_system_error("read", path);
    if (got == 0) return;
    body({buffer.data(), static_cast<size_t>(got)});
  }
}

std::string read_file(const fs::path& path) {
  std::string text;
  read_in_pieces(path, [&](std::span<const std::byte> piece) {
    text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  });
  return text;
}

MappedFile::MappedFile(const fs::path& path) {
  const Descriptor file = open_for_reading(path);
  const struct stat status = status_of(file, path);
  if (!S_ISREG(status.st_mode)) refuse_stream(path);
  const auto bytes = static_cast<size_t>(status.st_size);
  if (bytes == 0) return;
  void* mapping = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (mapping == MAP_FAILED && errno == ENOMEM) {
    throw_environment_error(
        "cannot map {}: no memory is left, or the process maps more files than vm.max_map_count "
        "lets it; join small files into larger ones",
        path.string());
  }
  if (mapping == MAP_FAILED) throw_system_error("map", path);
  pages_ = Pages(static_cast<std::byte*>(mapping), {bytes});
}

void MappedFile::release_memory() const {
  if (pages_) ::madvise(pages_.get(), pages_.get_deleter().bytes, MADV_DONTNEED);
}

}  // namespace cloze::platform

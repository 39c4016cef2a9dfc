#include "platform/file.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "platform/descriptor.h"
#include "platform/partial_file.h"

namespace cloze::platform {
namespace {

namespace fs = std::filesystem;

constexpr size_t kWriteBufferBytes = 1 << 20;
constexpr size_t kReadBufferBytes = 1 << 18;  // stays in the second cache
constexpr char kTemporarySuffix[] = ".tmp-";

// What processes that were killed left of a file. The kernel releases a lock with its process, so a
// temporary that can be locked has no writer.
void remove_abandoned_temporaries(const fs::path& path) {
  const std::string prefix = path.filename().string() + kTemporarySuffix;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder_of(path), ignored)) {
    if (!entry.path().filename().string().starts_with(prefix)) continue;
    const int descriptor = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) continue;
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) ::unlink(entry.path().c_str());
    ::close(descriptor);
  }
}

int open_for_reading(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw_system_error("open", path);
  struct stat status;
  if (::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
    ::close(descriptor);
    throw_user_error("cannot read {}: it is a folder; name a file", path.string());
  }
  return descriptor;
}

// Closed at the end.
struct Descriptor {
  int number;
  ~Descriptor() { ::close(number); }
};

// A name as AtomicFile gives it while it writes, the suffix and a process, or as PartialFile does.
bool is_temporary(const fs::path& path) {
  const std::string name = path.filename().string();
  if (name.ends_with(kPartialSuffix)) return true;
  const size_t suffix = name.rfind(kTemporarySuffix);
  if (suffix == std::string::npos) return false;
  const std::string process = name.substr(suffix + std::strlen(kTemporarySuffix));
  return !process.empty() &&
         std::ranges::all_of(process, [](char c) { return c >= '0' && c <= '9'; });
}

std::vector<fs::path> files_below(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && !is_temporary(entry.path())) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) throw_user_error("folder {} holds no files", folder);
  return files;
}

std::vector<fs::path> files_matching(const std::string& pattern) {
  if (pattern == "-") return {pattern};
  glob_t matches{};
  const int status = ::glob(pattern.c_str(), 0, nullptr, &matches);
  std::vector<fs::path> files;
  for (size_t i = 0; status == 0 && i < matches.gl_pathc; ++i) {
    const fs::path file = matches.gl_pathv[i];
    // One that is called by its name is meant.
    if (file == pattern || !is_temporary(file)) files.push_back(file);
  }
  ::globfree(&matches);
  if (files.empty()) throw_user_error("no file matches {}; check the path", pattern);
  return files;
}

}  // namespace

void read_in_pieces(const fs::path& path,
                    const std::function<void(std::span<const std::byte>)>& body) {
  const Descriptor file{open_for_reading(path)};
  std::vector<std::byte> buffer(kReadBufferBytes);
  while (true) {
    const ssize_t got = ::read(file.number, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
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
  const int descriptor = open_for_reading(path);
  struct stat status;
  if (::fstat(descriptor, &status) != 0) {
    ::close(descriptor);
    throw_system_error("stat", path);
  }
  size_ = static_cast<size_t>(status.st_size);
  if (size_ > 0) {
    void* mapping = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (mapping == MAP_FAILED) {
      ::close(descriptor);
      throw_system_error("map", path);
    }
    data_ = static_cast<const std::byte*>(mapping);
  }
  ::close(descriptor);
}

MappedFile::MappedFile(MappedFile&& other) noexcept : data_(other.data_), size_(other.size_) {
  other.data_ = nullptr;
  other.size_ = 0;
}

void MappedFile::release_memory() const {
  if (data_ != nullptr) ::madvise(const_cast<std::byte*>(data_), size_, MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)) {
  check_output_path(path_);
  temporary_ = path_;
  temporary_ += kTemporarySuffix + std::to_string(::getpid());
  remove_abandoned_temporaries(path_);
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor_ < 0) throw_system_error("create", temporary_);
  ::flock(descriptor_, LOCK_EX | LOCK_NB);  // says that its writer lives
  buffer_.reserve(kWriteBufferBytes);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* data, size_t bytes) {
  if (buffer_.size() + bytes > kWriteBufferBytes) flush();
  if (bytes >= kWriteBufferBytes) {
    write_all(descriptor_, {static_cast<const char*>(data), bytes}, path_);
    return;
  }
  const char* begin = static_cast<const char*>(data);
  buffer_.insert(buffer_.end(), begin, begin + bytes);
}

void AtomicFile::flush() {
  write_all(descriptor_, {buffer_.data(), buffer_.size()}, path_);
  buffer_.clear();
}

void AtomicFile::commit() {
  flush();
  if (::fsync(descriptor_) != 0) throw_system_error("sync", path_);
  if (::close(std::exchange(descriptor_, -1)) != 0) {
    ::unlink(temporary_.c_str());
    throw_system_error("close", path_);
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    ::unlink(temporary_.c_str());
    throw_system_error("rename to", path_);
  }
  sync_directory(folder_of(path_));
}

void write_file_atomically(const fs::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

AppendFile::AppendFile(const fs::path& path, int64_t keep_bytes) : path_(path) {
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor_ < 0) throw_system_error("open", path_);
  if (keep_bytes >= 0 && ::ftruncate(descriptor_, keep_bytes) != 0) {
    throw_system_error("truncate", path_);
  }
}

AppendFile::~AppendFile() { ::close(descriptor_); }

void AppendFile::append(std::string_view text) { write_all(descriptor_, text, path_); }

FolderLock::FolderLock(const fs::path& folder) {
  descriptor_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ < 0) throw_system_error("open folder", folder);
  // File systems without locks are used without.
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(descriptor_);
    throw_environment_error("another process is writing to {}; wait for it and run again",
                            folder.string());
  }
}

FolderLock::~FolderLock() { ::close(descriptor_); }

void make_writable_directory(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    throw_environment_error("cannot create folder {}: {}; choose another output folder",
                            path.string(), error.message());
  }
  if (::access(path.c_str(), W_OK | X_OK) != 0) {
    throw_environment_error("cannot write to folder {}: {}; choose another output folder",
                            path.string(), std::strerror(errno));
  }
}

void sync_directory(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) throw_system_error("open folder", path);
  const int status = ::fsync(descriptor);
  ::close(descriptor);
  if (status != 0) throw_system_error("sync folder", path);
}

std::vector<fs::path> expand_paths(std::string_view comma_list) {
  std::vector<fs::path> files;
  while (!comma_list.empty()) {
    const size_t comma = comma_list.find(',');
    const std::string pattern(comma_list.substr(0, comma));
    comma_list.remove_prefix(comma == std::string_view::npos ? comma_list.size() : comma + 1);
    if (pattern.empty()) continue;
    const std::vector<fs::path> matches =
        fs::is_directory(pattern) ? files_below(pattern) : files_matching(pattern);
    files.insert(files.end(), matches.begin(), matches.end());
  }
  return files;
}

}  // namespace cloze::platform

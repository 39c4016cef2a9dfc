#include "platform/file.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "platform/partial_file.h"

namespace cloze::platform {
namespace {

namespace fs = std::filesystem;

constexpr size_t kWriteBufferBytes = 1 << 20;
constexpr size_t kReadBufferBytes = 1 << 18;  // stays in the second cache
constexpr char kTemporarySuffix[] = ".tmp-";

// Whether the path is still that of the open file.
bool is_file_at(const Descriptor& file, const fs::path& path) {
  struct stat open_one, named;
  return ::fstat(file.number(), &open_one) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open_one.st_ino == named.st_ino && open_one.st_dev == named.st_dev;
}

// What processes that were killed left of a file. The kernel releases a lock with its process, so a
// temporary that can be locked has no writer; unless its writer has renamed it since it was opened
// here, and begun another.
void remove_abandoned_temporaries(const fs::path& path) {
  const std::string prefix = path.filename().string() + kTemporarySuffix;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder_of(path), ignored)) {
    if (!entry.path().filename().string().starts_with(prefix)) continue;
    const Descriptor file(::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) continue;
    const bool is_locked = ::flock(file.number(), LOCK_EX | LOCK_NB) == 0;
    if (is_locked && is_file_at(file, entry.path())) ::unlink(entry.path().c_str());
  }
}

// Its lock says that the writer lives. Another writer may remove it before it is locked.
Descriptor create_locked(const fs::path& path) {
  while (true) {
    Descriptor file = open_file(path, O_WRONLY | O_CREAT, "create");
    ::flock(file.number(), LOCK_EX);
    if (!is_file_at(file, path)) continue;
    // Not before: a process of the same number in another container may be writing it.
    if (::ftruncate(file.number(), 0) != 0) throw_system_error("truncate", path);
    return file;
  }
}

Descriptor open_for_reading(const fs::path& path) {
  Descriptor file = open_file(path, O_RDONLY, "open");
  struct stat status;
  if (::fstat(file.number(), &status) == 0 && S_ISDIR(status.st_mode)) {
    throw_user_error("cannot read {}: it is a folder; name a file", path.string());
  }
  return file;
}

Descriptor open_folder(const fs::path& path) {
  return open_file(path, O_RDONLY | O_DIRECTORY, "open folder");
}

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
  std::error_code unknown;
  if (is_standard_input(pattern) || fs::exists(pattern, unknown)) return {pattern};
  glob_t matches{};
  const int status = ::glob(pattern.c_str(), 0, nullptr, &matches);
  std::vector<fs::path> files;
  for (size_t i = 0; status == 0 && i < matches.gl_pathc; ++i) {
    const fs::path file = matches.gl_pathv[i];
    if (!is_temporary(file)) files.push_back(file);
  }
  ::globfree(&matches);
  if (files.empty()) throw_user_error("no file matches {}; check the path", pattern);
  return files;
}

// What is not there is no other's.
bool is_same(const fs::path& left, const fs::path& right) {
  std::error_code not_there;
  return fs::equivalent(left, right, not_there);
}

bool lies_in(const fs::path& file, const fs::path& folder) {
  std::error_code unknown;
  if (!fs::is_directory(folder, unknown)) return false;
  fs::path parent = fs::weakly_canonical(fs::absolute(folder_of(file)), unknown);
  for (; parent.has_relative_path(); parent = parent.parent_path()) {
    if (is_same(parent, folder)) return true;
  }
  return false;
}

void require_other_file(const fs::path& output, const fs::path& input) {
  if (is_standard_input(input)) return;
  if (is_same(output, input)) {
    throw_user_error("writing {} would overwrite {}, which is read; name another file",
                     output.string(), input.string());
  }
  if (lies_in(output, input)) {
    throw_user_error("{} lies in {}, which is read; name a file outside of it", output.string(),
                     input.string());
  }
}

}  // namespace

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
  struct stat status;
  if (::fstat(file.number(), &status) != 0) throw_system_error("stat", path);
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

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)) {
  check_output_path(path_);
  temporary_ = path_;
  temporary_ += kTemporarySuffix + std::to_string(::getpid());
  remove_abandoned_temporaries(path_);
  file_ = create_locked(temporary_);
  buffer_.reserve(kWriteBufferBytes);
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* data, size_t bytes) {
  if (buffer_.size() + bytes > kWriteBufferBytes) flush();
  if (bytes >= kWriteBufferBytes) {
    write_all(file_, {static_cast<const char*>(data), bytes}, path_);
  } else {
    buffer_.append(static_cast<const char*>(data), bytes);
  }
}

void AtomicFile::flush() {
  write_all(file_, buffer_, path_);
  buffer_.clear();
}

void AtomicFile::commit() {
  flush();
  if (::fsync(file_.number()) != 0) throw_system_error("sync", path_);
  // Open, and so locked, for as long as it has a name that other writers remove when nobody has it.
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) throw_system_error("rename to", path_);
  temporary_.clear();
  file_.close();  // all of it is on the disk
  sync_directory(folder_of(path_));
}

void write_file_atomically(const fs::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

AppendFile::AppendFile(const fs::path& path, int64_t keep_bytes)
    : path_(path), file_(open_file(path, O_WRONLY | O_CREAT | O_APPEND, "open")) {
  if (keep_bytes >= 0 && ::ftruncate(file_.number(), keep_bytes) != 0) {
    throw_system_error("truncate", path_);
  }
}

void AppendFile::append(std::string_view text) { write_all(file_, text, path_); }

FolderLock::FolderLock(const fs::path& folder) : folder_(open_folder(folder)) {
  if (folder_.lock()) return;
  throw_environment_error("another process is writing to {}; wait for it and run again",
                          folder.string());
}

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

MadeFolder::MadeFolder(const fs::path& path) {
  fs::path missing = fs::absolute(path).lexically_normal();
  if (!missing.has_filename()) missing = missing.parent_path();
  std::error_code error;
  for (; !fs::exists(missing, error) && missing.has_relative_path();
       missing = missing.parent_path()) {
    made_.push_back(missing);
  }
  make_writable_directory(path);
}

MadeFolder::~MadeFolder() {
  std::error_code error;
  for (const fs::path& folder : made_) {
    if (!fs::remove(folder, error)) return;  // it holds something, or another took it away
  }
}

void sync_directory(const fs::path& path) {
  if (::fsync(open_folder(path).number()) != 0) throw_system_error("sync folder", path);
}

std::vector<fs::path> expand_paths(std::string_view comma_list) {
  std::vector<fs::path> files;
  while (!comma_list.empty()) {
    const size_t comma = comma_list.find(',');
    const std::string pattern(comma_list.substr(0, comma));
    comma_list.remove_prefix(comma == std::string_view::npos ? comma_list.size() : comma + 1);
    if (pattern.empty()) continue;
    std::error_code unknown;  // a path that cannot be is not there
    const std::vector<fs::path> matches =
        fs::is_directory(pattern, unknown) ? files_below(pattern) : files_matching(pattern);
    files.insert(files.end(), matches.begin(), matches.end());
  }
  return files;
}

void require_other_files(const ReadAndWritten& files) {
  for (const fs::path& output : files.outputs) {
    if (output.empty()) continue;
    for (const fs::path& input : files.inputs) require_other_file(output, input);
  }
}

}  // namespace cloze::platform

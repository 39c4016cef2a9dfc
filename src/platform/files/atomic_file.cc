#include "platform/files/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "platform/files/folder.h"
#include "platform/files/output_path.h"

namespace cloze::platform {
namespace {

namespace fs = std::filesystem;

constexpr char kTemporarySuffix[] = ".tmp-";

fs::path temporary_path_of(const fs::path& path) {
  fs::path temporary = path;
  return temporary += kTemporarySuffix + std::to_string(::getpid());
}

bool is_process_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Removes what killed processes left of a file. The kernel releases a process's locks when it ends,
// so a temporary that can be locked has no writer; unless its writer has renamed it since it was
// opened here, and begun another.
void remove_abandoned_temporaries(const fs::path& path) {
  const std::string prefix = path.filename().string() + kTemporarySuffix;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder_of(path), ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix) || !is_process_number(name.substr(prefix.size()))) continue;
    const Descriptor file(::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) continue;
    const bool is_locked = ::flock(file.number(), LOCK_EX | LOCK_NB) == 0;
    if (is_locked && is_file_at(file, entry.path())) ::unlink(entry.path().c_str());
  }
}

// The lock says that the writer is alive. Another writer may remove the file before it is locked.
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

Descriptor create_alone(const fs::path& path, const fs::path& temporary) {
  check_output_path(path);
  remove_abandoned_temporaries(path);
  return create_locked(temporary);
}

}  // namespace

AtomicFile::AtomicFile(fs::path path)
    : path_(std::move(path)),
      temporary_(temporary_path_of(path_)),
      file_(create_alone(path_, temporary_), path_) {}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* data, size_t bytes) {
  file_.write({static_cast<const char*>(data), bytes});
}

void AtomicFile::commit() {
  file_.sync();
  // Still open, and so locked, as long as it has its temporary name: other writers remove unlocked
  // temporaries.
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

bool is_temporary_of_atomic_file(const fs::path& path) {
  const std::string name = path.filename().string();
  const size_t suffix = name.rfind(kTemporarySuffix);
  if (suffix == std::string::npos) return false;
  return is_process_number(name.substr(suffix + std::strlen(kTemporarySuffix)));
}

}  // namespace cloze::platform

#include "platform/files/folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/error.h"

namespace cloze::platform {
namespace {

namespace fs = std::filesystem;

Descriptor open_folder(const fs::path& path) {
  return open_file(path, O_RDONLY | O_DIRECTORY, "open folder");
}

}  // namespace

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

FolderLock::FolderLock(const fs::path& folder) : folder_(open_folder(folder)) {
  if (folder_.lock()) return;
  throw_environment_error("another process is writing to {}; wait for it and run again",
                          folder.string());
}

void make_writable_directory(const fs::path& path) {
  const auto refuse = [&](const char* action, int code) {
    const std::string message = fmt::format("cannot {} folder {}: {}; choose another output folder",
                                            action, path.string(), std::strerror(code));
    if (is_about_a_path(code)) throw UserError(message);
    throw EnvironmentError(message);
  };
  std::error_code error;
  fs::create_directories(path, error);
  if (error) refuse("create", error.value());
  if (::access(path.c_str(), W_OK | X_OK) != 0) refuse("write to", errno);
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

}  // namespace cloze::platform

#include "platform/files/temporary_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/error.h"

namespace cloze::platform {
namespace {

[[noreturn]] void fail(std::string_view action, const std::filesystem::path& folder) {
  throw_environment_error("cannot {} a temporary file in {}: {}; set TMPDIR to a folder with room",
                          action, folder.string(), std::strerror(errno));
}

std::filesystem::path temporary_folder() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (!error) return folder;
  const char* const named = std::getenv("TMPDIR");
  throw_environment_error("TMPDIR is {}: {}; set it to a folder with room",
                          named == nullptr ? "unset" : named, error.message());
}

}  // namespace

TemporaryFile::TemporaryFile() : folder_(temporary_folder()) {
  std::string name = (folder_ / "cloze-XXXXXX").string();
  file_ = Descriptor(::mkostemp(name.data(), O_CLOEXEC));
  if (!file_.is_open()) fail("create", folder_);
  ::unlink(name.c_str());
}

void TemporaryFile::append(std::string_view bytes) {
  if (!write_all(file_, bytes)) fail("write to", folder_);
  bytes_ += bytes.size();
}

std::string TemporaryFile::read(uint64_t offset, size_t bytes) const {
  CLOZE_CHECK(offset + bytes <= bytes_, "bytes {} to {} of {}", offset, offset + bytes, bytes_);
  std::string data(bytes, '\0');
  for (size_t done = 0; done < bytes;) {
    const ssize_t got = TEMP_FAILURE_RETRY(::pread(file_.number(), data.data() + done, bytes - done,
                                                   static_cast<off_t>(offset + done)));
    if (got <= 0) fail("read", folder_);
    done += static_cast<size_t>(got);
  }
  return data;
}

std::filesystem::path TemporaryFile::path() const {
  return fmt::format("/proc/self/fd/{}", file_.number());
}

}  // namespace cloze::platform

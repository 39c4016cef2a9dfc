#include "platform/scratch_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace cloze::platform {
namespace {

[[noreturn]] void fail(std::string_view action, const std::filesystem::path& folder) {
  throw_environment_error("cannot {} a scratch file in {}: {}; choose another folder or free space",
                          action, folder.string(), std::strerror(errno));
}

}  // namespace

ScratchFile::ScratchFile(const std::filesystem::path& folder)
    : folder_(folder.empty() ? "." : folder) {
  std::string name = (folder_ / "cloze-scratch-XXXXXX").string();
  descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) fail("create", folder_);
  ::unlink(name.c_str());
}

ScratchFile::~ScratchFile() { ::close(descriptor_); }

void ScratchFile::append(std::string_view data) {
  while (!data.empty()) {
    const ssize_t written = ::write(descriptor_, data.data(), data.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write to", folder_);
    data.remove_prefix(static_cast<size_t>(written));
    bytes_ += static_cast<uint64_t>(written);
  }
}

std::string ScratchFile::read(uint64_t offset, size_t bytes) const {
  CLOZE_CHECK(offset + bytes <= bytes_, "bytes {} to {} of {}", offset, offset + bytes, bytes_);
  std::string data(bytes, '\0');
  for (size_t done = 0; done < bytes;) {
    const ssize_t got =
        ::pread(descriptor_, data.data() + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail("read", folder_);
    done += static_cast<size_t>(got);
  }
  return data;
}

}  // namespace cloze::platform

#include "platform/temporary_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"

namespace cloze::platform {
namespace {

constexpr size_t kBufferBytes = 1 << 20;

[[noreturn]] void throw_unwritable(const std::filesystem::path& folder) {
  throw_environment_error(
      "cannot write a temporary file in {}: {}; set TMPDIR to a folder with room", folder.string(),
      std::strerror(errno));
}

}  // namespace

TemporaryFile::TemporaryFile() {
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  std::string name = (folder / "cloze-XXXXXX").string();
  const int descriptor = ::mkstemp(name.data());
  if (descriptor < 0) throw_unwritable(folder);
  ::close(descriptor);
  path_ = name;
  stream_.open(path_, std::ios::binary);
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

void TemporaryFile::write(std::string_view bytes) {
  if (!stream_.write(bytes.data(), std::ssize(bytes))) throw_unwritable(path_.parent_path());
}

void TemporaryFile::flush() {
  if (!stream_.flush()) throw_unwritable(path_.parent_path());
}

MappedFile TemporaryFile::map() {
  stream_.close();
  if (stream_.fail()) throw_unwritable(path_.parent_path());
  MappedFile mapped(path_);
  std::filesystem::remove(path_);
  return mapped;
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
  std::vector<char> buffer(kBufferBytes);
  while (const size_t bytes = std::fread(buffer.data(), 1, buffer.size(), file)) {
    visit({buffer.data(), bytes});
  }
  if (std::ferror(file) != 0) {
    throw_user_error("cannot read {}: {}; check the path", path.string(), std::strerror(errno));
  }
}

}  // namespace cloze::platform

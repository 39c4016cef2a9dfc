#include "platform/files/partial_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "base/error.h"
#include "platform/files/folder.h"
#include "platform/files/output_path.h"

namespace cloze::platform {
namespace {

Descriptor open_alone(const std::filesystem::path& path) {
  check_output_path(path);
  const std::filesystem::path partial = partial_path_of(path);
  while (true) {
    Descriptor file = open_file(partial, O_WRONLY | O_CREAT | O_APPEND, "create");
    if (!file.lock()) {
      throw_environment_error("another process is writing {}; wait for it and run again",
                              path.string());
    }
    // Otherwise another writer renamed or removed it before it was locked here.
    if (is_file_at(file, partial)) return file;
  }
}

}  // namespace

std::filesystem::path partial_path_of(const std::filesystem::path& path) {
  std::filesystem::path partial = path;
  return partial += kPartialSuffix;
}

PartialFile::PartialFile(std::filesystem::path path)
    : path_(std::move(path)),
      partial_(partial_path_of(path_)),
      file_(open_alone(path_), partial_),
      bytes_(std::filesystem::file_size(partial_)) {}

PartialFile::~PartialFile() {
  if (file_.descriptor().is_open() && bytes_ == 0) remove();
}

void PartialFile::keep(uint64_t bytes) {
  CLOZE_CHECK(bytes <= bytes_ && !file_.has_unwritten(), "{} of {} bytes", bytes, bytes_);
  if (::ftruncate(file_.descriptor().number(), static_cast<off_t>(bytes)) != 0) {
    throw_system_error("truncate", partial_);
  }
  bytes_ = bytes;
}

void PartialFile::append(std::string_view bytes) {
  file_.write(bytes);
  bytes_ += bytes.size();
}

void PartialFile::sync() { file_.sync(); }

MappedFile PartialFile::map() {
  file_.flush();
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

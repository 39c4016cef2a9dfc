#include "data/records/record_sink.h"

#include "base/error.h"
#include "formats/tfrecord.h"

namespace cloze::data {

RecordSink::RecordSink(std::span<const std::filesystem::path> files, bool is_binary)
    : is_binary_(is_binary) {
  if (files.empty()) throw_user_error("--output-file names no file");
  for (const std::filesystem::path& path : files) {
    if (path.has_parent_path()) platform::make_writable_directory(path.parent_path());
    files_.push_back(std::make_unique<platform::AtomicFile>(path));
  }
}

void RecordSink::append(std::string_view record) {
  platform::AtomicFile& file = *files_[next_];
  is_binary_ ? file.write(record)
             : file.write(formats::tfrecord_bytes(std::as_bytes(std::span(record))));
  next_ = (next_ + 1) % files_.size();
}

void RecordSink::commit() {
  for (const auto& file : files_) file->commit();
}

}  // namespace cloze::data

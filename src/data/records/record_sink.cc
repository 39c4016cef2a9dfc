#include "data/records/record_sink.h"

#include "base/error.h"
#include "platform/file.h"

namespace cloze::data {

RecordSink::RecordSink(std::span<const std::filesystem::path> files) {
  if (files.empty()) throw_user_error("--output-file names no file");
  for (const std::filesystem::path& path : files) {
    if (path.has_parent_path()) platform::make_writable_directory(path.parent_path());
    writers_.push_back(std::make_unique<formats::TfRecordWriter>(path));
  }
}

void RecordSink::append(std::string_view record) {
  writers_[next_]->append(std::as_bytes(std::span(record.data(), record.size())));
  next_ = (next_ + 1) % writers_.size();
}

void RecordSink::commit() {
  for (const auto& writer : writers_) writer->commit();
}

}  // namespace cloze::data

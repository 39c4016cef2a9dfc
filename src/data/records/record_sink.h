// The TFRecord files that records are written to, filled in turn. Opened before any work is done,
// so that a folder that cannot be written to is seen at once; they appear when commit() is called.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "formats/tfrecord.h"

namespace cloze::data {

class RecordSink {
 public:
  explicit RecordSink(std::span<const std::filesystem::path> files);
  void append(std::string_view record);
  void commit();

 private:
  std::vector<std::unique_ptr<formats::TfRecordWriter>> writers_;
  size_t next_ = 0;
};

}  // namespace cloze::data

// The files, TFRecord or binary, that records are written to, filled in turn. They are opened
// before any work is done, so that a folder that cannot be written to is seen at once, and appear
// when commit() is called.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "platform/file.h"

namespace cloze::data {

class RecordSink {
 public:
  explicit RecordSink(std::span<const std::filesystem::path> files, bool is_binary = false);
  void append(std::string_view record);
  void commit();

 private:
  std::vector<std::unique_ptr<platform::AtomicFile>> files_;
  bool is_binary_;
  size_t next_ = 0;
};

}  // namespace cloze::data

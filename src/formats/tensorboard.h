// TensorBoard event files: scalars by tag and step, one TFRecord per event.
//
//   folder/events.out.tfevents.SECONDS.HOST.PID.NUMBER
//   first event: file_version "brain.Event:2"; then summaries; after a resume, session_log START,
//   which makes TensorBoard forget what an earlier file of the folder holds from that step on.
//
// Errors: UserError or EnvironmentError, as of make_writable_directory, when it cannot be written.
// Source: tensorflow/core/util/event.proto; tensorboard/summary/writer/event_file_writer.py.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "platform/files/append_file.h"

namespace cloze::formats {

struct Scalar {
  std::string tag;  // "loss/MLM"
  double value = 0.0;
};

class TensorBoardWriter {
 public:
  // Starts a new file in the folder, which is made when it is not there.
  explicit TensorBoardWriter(const std::filesystem::path& folder);

  void write_session_start(int64_t step);
  // One event with all the scalars of a step; it is in the file when this returns.
  void write_scalars(int64_t step, std::span<const Scalar> scalars);

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::unique_ptr<platform::AppendFile> file_;
};

}  // namespace cloze::formats

#include "formats/tensorboard.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>

#include "event.pb.h"
#include "formats/tfrecord.h"
#include "platform/files/folder.h"
#include "platform/process.h"

namespace cloze::formats {
namespace {

double wall_seconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// Two writers of one process within a second need different names.
int next_number() {
  static std::atomic<int> count{0};
  return count++;
}

wire::Event event_at(int64_t step) {
  wire::Event event;
  event.set_wall_time(wall_seconds());
  event.set_step(step);
  return event;
}

void append(platform::AppendFile& file, const wire::Event& event) {
  const std::string payload = event.SerializeAsString();
  file.append(tfrecord_bytes(std::as_bytes(std::span(payload))));
}

}  // namespace

TensorBoardWriter::TensorBoardWriter(const std::filesystem::path& folder) {
  platform::make_writable_directory(folder);
  path_ = folder / fmt::format("events.out.tfevents.{:010d}.{}.{}.{}",
                               static_cast<int64_t>(wall_seconds()), platform::host_name(),
                               platform::process_id(), next_number());
  file_ = std::make_unique<platform::AppendFile>(path_);
  wire::Event event = event_at(0);
  event.set_file_version("brain.Event:2");
  event.mutable_source_metadata()->set_writer("cloze");
  append(*file_, event);
}

void TensorBoardWriter::write_session_start(int64_t step) {
  wire::Event event = event_at(step);
  event.mutable_session_log()->set_status(wire::SessionLog::START);
  append(*file_, event);
}

void TensorBoardWriter::write_scalars(int64_t step, std::span<const Scalar> scalars) {
  wire::Event event = event_at(step);
  for (const Scalar& scalar : scalars) {
    wire::Summary::Value* value = event.mutable_summary()->add_value();
    value->set_tag(scalar.tag);
    value->set_simple_value(static_cast<float>(scalar.value));
  }
  append(*file_, event);
}

}  // namespace cloze::formats

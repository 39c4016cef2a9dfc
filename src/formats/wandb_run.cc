#include "formats/wandb_run.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <random>
#include <string_view>

#include "formats/json.h"
#include "platform/files/atomic_file.h"
#include "platform/files/folder.h"
#include "platform/process.h"
#include "wandb.pb.h"

namespace cloze::formats {
namespace {

namespace fs = std::filesystem;
using wandb_wire::Record;
using Clock = std::chrono::system_clock;

constexpr std::string_view kFileHeader{":W&B\xe1\xbe\0", 7};
constexpr int64_t kBlockBytes = 32768;
constexpr int64_t kChunkHeaderBytes = 7;
constexpr std::string_view kFolderPrefix = "offline-run-";
constexpr int kIdLength = 8;

enum ChunkType : uint8_t { kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

double seconds_of(Clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

std::string new_id() {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device random;
  std::string id(kIdLength, ' ');
  for (char& letter : id) letter = kLetters[random() % kLetters.size()];
  return id;
}

// The id of the newest run in the folder; empty when there is none.
std::string newest_id(const fs::path& folder) {
  std::string newest;
  std::error_code no_folder;
  for (const auto& entry : fs::directory_iterator(folder, no_folder)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(kFolderPrefix) && name.size() > kFolderPrefix.size() + kIdLength) {
      newest = std::max(newest, name);
    }
  }
  return newest.empty() ? newest : newest.substr(newest.size() - kIdLength);
}

void append_little_endian(std::string& bytes, uint32_t value, int count) {
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
}

std::string chunk(ChunkType type, std::string_view bytes) {
  const std::string typed = static_cast<char>(type) + std::string(bytes);
  std::string text;
  append_little_endian(
      text,
      static_cast<uint32_t>(::crc32(0, reinterpret_cast<const Bytef*>(typed.data()),
                                    static_cast<uInt>(typed.size()))),
      4);
  append_little_endian(text, static_cast<uint32_t>(bytes.size()), 2);
  return text + typed;
}

// The chunks of a record that begins at that offset of the file.
std::string log_bytes(std::string_view record, int64_t offset) {
  std::string text;
  bool is_first = true;
  do {
    int64_t room = kBlockBytes - (offset + std::ssize(text)) % kBlockBytes;
    if (room < kChunkHeaderBytes) {
      text.append(static_cast<size_t>(room), '\0');
      room = kBlockBytes;
    }
    const auto size = std::min(std::ssize(record), room - kChunkHeaderBytes);
    const bool is_last = size == std::ssize(record);
    const ChunkType type = is_first ? (is_last ? kFull : kFirst) : (is_last ? kLast : kMiddle);
    text += chunk(type, record.substr(0, static_cast<size_t>(size)));
    record.remove_prefix(static_cast<size_t>(size));
    is_first = false;
  } while (!record.empty());
  return text;
}

template <class Repeated>
void add_items(Repeated& items, const Json& values) {
  for (const auto& [key, value] : values.items()) {
    auto* item = items.Add();
    item->set_key(key);
    item->set_value_json(json_line(value));
  }
}

std::string config_yaml(const Json& config) {
  std::string text = "wandb_version: 1\n\n";  // JSON is YAML
  for (const auto& [key, value] : config.items()) {
    text += fmt::format("{}:\n  desc: null\n  value: {}\n", key, json_line(value));
  }
  return text;
}

Record header() {
  Record record;
  auto* version = record.mutable_header()->mutable_version_info();
  version->set_producer("0.19.0");
  return record;
}

}  // namespace

WandbRun::WandbRun(const fs::path& parent, const std::string& project, const std::string& name,
                   const Json& config, int64_t first_step)
    : start_(Clock::now()) {
  const fs::path runs = parent / "wandb";
  const std::string former = first_step > 0 ? newest_id(runs) : "";
  const std::string id = former.empty() ? new_id() : former;
  for (Clock::time_point time = start_; folder_.empty() || fs::exists(folder_);
       time += std::chrono::seconds(1)) {
    folder_ = runs / fmt::format("{}{:%Y%m%d_%H%M%S}-{}", kFolderPrefix,
                                 fmt::localtime(Clock::to_time_t(time)), id);
  }
  platform::make_writable_directory(folder_ / "files");
  platform::write_file_atomically(folder_ / "files" / "config.yaml", config_yaml(config));
  platform::write_file_atomically(
      folder_ / "files" / "wandb-metadata.json",
      json_text({{"host", platform::host_name()}, {"program", "cloze"}}));
  file_ = std::make_unique<platform::AppendFile>(folder_ / fmt::format("run-{}.wandb", id), 0);
  file_->append(kFileHeader);
  offset_ = std::ssize(kFileHeader);
  append(header().SerializeAsString());

  Record record;
  wandb_wire::Run& run = *record.mutable_run();
  run.set_run_id(id);
  run.set_project(project);
  run.set_display_name(name);
  run.set_host(platform::host_name());
  run.set_starting_step(first_step);
  run.set_resumed(!former.empty());
  run.mutable_start_time()->set_seconds(Clock::to_time_t(start_));
  add_items(*run.mutable_config()->mutable_update(), config);
  record.set_num(++num_records_);
  append(record.SerializeAsString());
}

void WandbRun::write_history(int64_t step, const Json& values) {
  Json all = values;
  all["_step"] = step;
  all["_runtime"] = runtime_seconds();
  all["_timestamp"] = seconds_of(Clock::now().time_since_epoch());
  Record history;
  history.set_num(++num_records_);
  add_items(*history.mutable_history()->mutable_item(), all);
  history.mutable_history()->mutable_step()->set_num(step);
  append(history.SerializeAsString());

  Record summary;
  summary.set_num(++num_records_);
  add_items(*summary.mutable_summary()->mutable_update(), all);
  append(summary.SerializeAsString());
}

void WandbRun::write_exit(int exit_code) {
  Record exit;
  exit.set_num(++num_records_);
  exit.mutable_exit()->set_exit_code(exit_code);
  exit.mutable_exit()->set_runtime(static_cast<int32_t>(runtime_seconds()));
  append(exit.SerializeAsString());
  Record footer;
  footer.set_num(++num_records_);
  footer.mutable_footer();
  append(footer.SerializeAsString());
}

double WandbRun::runtime_seconds() const { return seconds_of(Clock::now() - start_); }

void WandbRun::append(std::string record) {
  const std::string bytes = log_bytes(record, offset_);
  file_->append(bytes);
  offset_ += std::ssize(bytes);
}

}  // namespace cloze::formats

#include "formats/model_tensors.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <utility>

#include "base/byte_size.h"
#include "base/error.h"
#include "base/whole_number.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"

namespace cloze::formats {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNames[] = {"model.safetensors", "model.safetensors.index.json",
                                  "pytorch_model.bin", "pytorch_model.bin.index.json"};

// The first of kNames in a folder; nothing when there is none.
std::optional<fs::path> file_in(const fs::path& folder) {
  for (const char* name : kNames) {
    if (fs::exists(folder / name)) return folder / name;
  }
  return std::nullopt;
}

std::vector<std::span<const TensorView>> shards_of(std::span<const TensorView> tensors,
                                                   uint64_t max_bytes) {
  std::vector<std::span<const TensorView>> shards;
  size_t begin = 0;
  uint64_t bytes = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const uint64_t size = tensors[i].bytes.size();
    if (max_bytes > 0 && i > begin && bytes + size > max_bytes) {
      shards.push_back(tensors.subspan(begin, i - begin));
      begin = i;
      bytes = 0;
    }
    bytes += size;
  }
  shards.push_back(tensors.subspan(begin));
  return shards;
}

}  // namespace

ModelTensors::ModelTensors(const fs::path& path) {
  const bool is_folder = fs::is_directory(path);
  const std::optional<fs::path> file = is_folder ? file_in(path) : std::nullopt;
  if (const auto prefix = file ? std::nullopt : find_tf_checkpoint(path)) {
    path_ = *prefix;
    tf_checkpoint_ = std::make_unique<TfCheckpoint>(path_);
    add(tf_checkpoint_->tensors(), path_);
    other_entries_ = tf_checkpoint_->other_entries();
    return;
  }
  if (is_folder && !file) {
    throw_user_error(
        "{} holds neither model.safetensors nor pytorch_model.bin, whole or in shards, nor a "
        "TensorFlow checkpoint; give a model's folder or a checkpoint-STEP folder",
        path.string());
  }
  if (!fs::exists(path)) throw_missing_model(path);
  path_ = file.value_or(path);
  is_shard_index(path_.filename().string()) ? add_shards(path_) : add_file(path_);
}

void ModelTensors::add_file(const fs::path& file) {
  if (is_torch_file(platform::MappedFile(file).bytes())) {
    const TorchFile& opened = *torch_.emplace_back(std::make_unique<TorchFile>(file));
    add(opened.tensors(), file);
    const auto& others = opened.other_entries();
    other_entries_.insert(other_entries_.end(), others.begin(), others.end());
  } else {
    add(safetensors_.emplace_back(std::make_unique<SafetensorsFile>(file))->tensors(), file);
  }
}

void ModelTensors::add(std::span<const TensorView> tensors, const fs::path& file) {
  for (const TensorView& tensor : tensors) {
    if (!names_.insert(tensor.name).second) {
      throw_data_error("{}: tensor {} is stored twice", file.string(), tensor.name);
    }
    tensors_.push_back(tensor);
  }
}

void ModelTensors::add_shards(const fs::path& index) {
  const Json json = read_json_file(index);
  if (!json.is_object() || !json.contains("weight_map") || !json["weight_map"].is_object()) {
    throw_data_error("{}: has no weight_map", index.string());
  }
  std::set<std::string> files;
  for (const auto& [name, file] : json["weight_map"].items()) {
    // Only a plain file name: an index must not lead out of its folder.
    if (!file.is_string() ||
        fs::path(file.get<std::string>()).filename() != file.get<std::string>()) {
      throw_data_error("{}: {} is in no file of this folder", index.string(), name);
    }
    files.insert(file.get<std::string>());
  }
  for (const std::string& file : files) add_file(index.parent_path() / file);
  for (const auto& [name, file] : json["weight_map"].items()) {
    if (!names_.contains(name)) {
      throw_data_error("{}: {} is not in {}, as it says", index.string(), name,
                       file.get<std::string>());
    }
  }
}

void ModelTensors::release_memory() const {
  for (const auto& file : safetensors_) file->release_memory();
  for (const auto& file : torch_) file->release_memory();
  if (tf_checkpoint_ != nullptr) tf_checkpoint_->release_memory();
}

std::vector<std::string> write_model_folder(const std::filesystem::path& folder,
                                            std::span<const TensorView> tensors,
                                            uint64_t max_bytes) {
  const auto shards = shards_of(tensors, max_bytes);
  if (shards.size() == 1) {
    write_safetensors(folder / "model.safetensors", tensors);
    return {"model.safetensors"};
  }
  std::vector<std::string> files;
  Json index;
  uint64_t total = 0;
  for (const auto& shard : shards) {
    files.push_back(
        fmt::format("model-{:05}-of-{:05}.safetensors", files.size() + 1, shards.size()));
    write_safetensors(folder / files.back(), shard);
    for (const TensorView& tensor : shard) total += tensor.bytes.size();
  }
  index["metadata"]["total_size"] = total;
  for (size_t i = 0; i < shards.size(); ++i) {
    for (const TensorView& tensor : shards[i]) index["weight_map"][tensor.name] = files[i];
  }
  files.push_back("model.safetensors.index.json");
  platform::write_file_atomically(folder / files.back(), json_text(index));
  return files;
}

bool is_shard_index(std::string_view file_name) { return file_name.ends_with(".index.json"); }

void throw_missing_model(const fs::path& path) {
  throw_user_error(
      "{} does not exist, and nothing is downloaded; give a model's folder (with config.json, "
      "vocab.txt and model.safetensors), a file of weights, the prefix of a TensorFlow checkpoint, "
      "or the folder of a run",
      path.string());
}

uint64_t shard_bytes(std::string_view text) {
  if (const auto bytes = number_in<uint64_t>(text); bytes && *bytes > 0) return *bytes;
  if (const auto bytes = byte_size(text)) return static_cast<uint64_t>(*bytes);
  throw_user_error("\"{}\" is not the size of a shard; give one such as 500MB or 5GB", text);
}

}  // namespace cloze::formats

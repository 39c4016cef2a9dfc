#include "checkpoints/stored_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "checkpoints/sentence_folder.h"

namespace cloze::checkpoints {
namespace {

namespace fs = std::filesystem;

std::optional<fs::path> find_configuration(const fs::path& folder) {
  for (const char* name : {"config.json", "bert_config.json"}) {
    if (fs::exists(folder / name)) return folder / name;
  }
  return std::nullopt;
}

}  // namespace

StoredModel::StoredModel(const fs::path& path)
    : file_(path), is_tensorflow_(has_tensorflow_names(file_.tensors())) {
  if (!is_tensorflow_) {
    converted_.tensors = file_.tensors();
    add_dense_layers();
    return;
  }
  try {
    converted_ = from_tensorflow(file_.tensors());
  } catch (const DataError& error) {
    throw_data_error("{}: {}", path.string(), error.what());
  }
}

void StoredModel::add_dense_layers() {
  if (!has_modules(folder())) return;
  for (const std::string& layer : dense_folders(folder())) {
    const formats::ModelTensors& stored = dense_layers_.emplace_back(folder() / layer);
    for (formats::TensorView tensor : stored.tensors()) {
      tensor.name = fmt::format("{}.{}", layer, tensor.name);
      std::erase_if(converted_.tensors, [&](const formats::TensorView& other) {
        return other.name == tensor.name;  // a checkpoint of a run has it in both files
      });
      converted_.tensors.push_back(std::move(tensor));
    }
  }
}

void StoredModel::release_memory() const {
  file_.release_memory();
  for (const formats::ModelTensors& layer : dense_layers_) layer.release_memory();
}

fs::path StoredModel::folder() const { return folder_of(path()); }

std::vector<std::string> StoredModel::other_files() const {
  const std::string own = path().filename().string();
  const std::string stem = own.substr(0, own.find('.'));
  const bool is_sharded = formats::is_shard_index(own);
  std::vector<std::string> others;
  for (const auto& entry : fs::directory_iterator(folder())) {
    std::string name = entry.path().filename().string();
    const bool is_part = (is_sharded && name.starts_with(stem + "-")) ||
                         (is_tensorflow_ && (name == own + ".index" || name == "checkpoint" ||
                                             name.starts_with(own + ".data-")));
    if (name != own && !is_part) others.push_back(std::move(name));
  }
  std::ranges::sort(others);
  return others;
}

std::optional<TensorflowNames> StoredModel::tensorflow_names() const {
  for (const formats::TensorView& tensor : file_.tensors()) {
    if (const auto kind = kind_of_name(tensor.name)) return kind;
  }
  return std::nullopt;
}

ConvertedTensors StoredModel::moments() const {
  return is_tensorflow_ ? moments_from_tensorflow(file_.tensors()) : ConvertedTensors();
}

std::optional<int64_t> StoredModel::global_step() const {
  const formats::TensorView* stored = formats::find_tensor(file_.tensors(), "global_step");
  if (stored == nullptr || stored->dtype != DType::kI64 || stored->shape.elements() != 1) {
    return std::nullopt;
  }
  int64_t step = 0;
  std::memcpy(&step, stored->bytes.data(), sizeof step);
  return step;
}

fs::path folder_of(const fs::path& model) {
  if (fs::is_directory(model)) return model;
  return model.has_parent_path() ? model.parent_path() : fs::path(".");
}

bool has_configuration(const fs::path& folder) { return find_configuration(folder).has_value(); }

fs::path configuration_of(const fs::path& model) {
  const fs::path folder = folder_of(model);
  if (const std::optional<fs::path> file = find_configuration(folder)) return *file;
  throw_user_error("{} holds neither config.json nor bert_config.json; put one beside the weights",
                   folder.string());
}

}  // namespace cloze::checkpoints

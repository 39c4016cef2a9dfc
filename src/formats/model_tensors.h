// The tensors of a model in whichever form it was saved: one safetensors file, one file of
// torch.save, a folder with either, in one piece or in shards, or a TensorFlow checkpoint
// (tf_checkpoint.h) by its prefix, one of its files or its folder. Names and layouts are the
// file's; checkpoints/stored_model.h gives them ours.
//
//   model.safetensors                       pytorch_model.bin
//   model.safetensors.index.json            pytorch_model.bin.index.json
//     {"weight_map": {"tensor": "model-00001-of-00002.safetensors", ...}}
//
// In a folder the first of these that is there is taken. Errors: UserError when there is none;
// DataError that names the file.
#pragma once

#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "formats/safetensors.h"
#include "formats/tf_checkpoint.h"
#include "formats/torch_file.h"

namespace cloze::formats {

class ModelTensors {
 public:
  explicit ModelTensors(const std::filesystem::path& path);

  // The file that was read, the index of the shards, or the prefix.
  const std::filesystem::path& path() const { return path_; }
  const std::vector<TensorView>& tensors() const { return tensors_; }
  // Everything else that a file holds.
  const std::vector<std::string>& other_entries() const { return other_entries_; }
  // Releases the memory of what was read of the tensors (platform/files/file.h).
  void release_memory() const;

 private:
  void add_file(const std::filesystem::path& file);
  void add_shards(const std::filesystem::path& index);
  void add(std::span<const TensorView> tensors, const std::filesystem::path& file);

  std::filesystem::path path_;
  std::vector<std::unique_ptr<SafetensorsFile>> safetensors_;
  std::vector<std::unique_ptr<TorchFile>> torch_;
  std::unique_ptr<TfCheckpoint> tf_checkpoint_;
  std::vector<TensorView> tensors_;
  std::set<std::string> names_;  // of tensors_
  std::vector<std::string> other_entries_;
};

// A model written as Hugging Face's folders have it: one model.safetensors, or, when it is larger
// than a shard may be, several files and an index that says where each tensor lies:
//
//   model-00001-of-00003.safetensors ...
//   model.safetensors.index.json    {"metadata": {"total_size": BYTES}, "weight_map": {NAME: FILE}}
//
// Source: huggingface_hub serialization (split_state_dict_into_shards_factory).
//
// Tensors fill a shard in their order until the next would exceed `max_bytes`; one that is larger
// by itself has its own shard. 0: never sharded. Each file is written whole or not at all, the
// index last. Returns the files' names.
std::vector<std::string> write_model_folder(const std::filesystem::path& folder,
                                            std::span<const TensorView> tensors,
                                            uint64_t max_bytes);

// UserError for a path where nothing is, perhaps the name of a model on Hugging Face's hub.
[[noreturn]] void throw_missing_model(const std::filesystem::path& path);

// Says whether a file is an index of shards: *.index.json.
bool is_shard_index(std::string_view file_name);

// "500MB", as base/byte_size.h has it, or only a number → bytes. UserError for anything else.
uint64_t shard_bytes(std::string_view text);

}  // namespace cloze::formats

// TensorFlow checkpoints ("V2", what tf.train.Saver writes): named tensors in a few files. They are
// referred to by what the files' names begin with, the prefix.
//
//   PREFIX.index                    a sorted table (sorted_table.h): "" → how many shards; a
//                                   tensor's name → dtype, shape, shard, offset, bytes, CRC32C
//   PREFIX.data-00000-of-00001      the tensors' bytes, row-major and little endian
//   PREFIX.meta                     the graph; neither read nor written
//   checkpoint                      text in the folder: the prefix of the newest
//
// Errors: DataError that names the file, and the tensor or the place. Variables that were
// partitioned ("slices") are refused.
// Source: tensorflow/core/util/tensor_bundle/tensor_bundle.cc.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/safetensors.h"
#include "platform/files/file.h"

namespace cloze::formats {

// The index's entry for a tensor.
struct TfCheckpointEntry {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;
  int32_t shard = 0;
  uint64_t offset = 0;  // in the shard
  uint64_t bytes = 0;
  uint32_t masked_crc = 0;
};

// The index alone; the data need not be there.
class TfCheckpointIndex {
 public:
  explicit TfCheckpointIndex(const std::filesystem::path& prefix);

  const std::vector<TfCheckpointEntry>& entries() const { return entries_; }  // by name
  // Names of what is not a tensor of numbers, with what it is: "_CHECKPOINTABLE_OBJECT_GRAPH
  // (string)"
  const std::vector<std::string>& other_entries() const { return other_entries_; }
  std::filesystem::path data_file(int32_t shard) const;
  int32_t num_shards() const { return num_shards_; }

 private:
  std::filesystem::path prefix_;
  int32_t num_shards_ = 0;
  std::vector<TfCheckpointEntry> entries_;
  std::vector<std::string> other_entries_;
};

class TfCheckpoint {
 public:
  // Reads all tensors once, to compare their CRCs.
  explicit TfCheckpoint(const std::filesystem::path& prefix);

  const std::vector<TensorView>& tensors() const { return tensors_; }
  const std::vector<std::string>& other_entries() const { return index_.other_entries(); }
  // Releases the memory of what was read of the tensors (platform/files/file.h).
  void release_memory() const;

 private:
  TfCheckpointIndex index_;
  std::vector<platform::MappedFile> shards_;
  std::vector<TensorView> tensors_;
};

// The prefix that a user means by a prefix, by one of the files, or by a folder that holds a single
// checkpoint or a file "checkpoint" that says which. None where there is no .index.
std::optional<std::filesystem::path> find_tf_checkpoint(const std::filesystem::path& path);

// Writes data, index and "checkpoint", each whole or not at all, the index after the data. Tensors
// are laid out by name, and so is the index, as tf.train.Saver does; the same tensors give the same
// bytes. InternalError when a name repeats or bytes do not fit the shape.
void write_tf_checkpoint(const std::filesystem::path& prefix, std::span<const TensorView> tensors);

}  // namespace cloze::formats

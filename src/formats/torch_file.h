// Reads what torch.save wrote: the tensors of a state dictionary (pytorch_model.bin), in both
// forms, without executing anything (pickle.h).
//
//   zip      (torch 1.6 and later)   NAME/data.pkl, the dictionary; NAME/data/KEY, the storages
//   legacy   (before)                five pickles: magic number, protocol, system, dictionary,
//                                    keys; then for each key its number of elements (u64) and
//                                    its bytes
//
// A tensor is a storage, an offset into it, sizes and strides; tensors that are not laid out in
// order are copied so that they are, the others are views of the file. When the file is a dictionary
// of several things, the tensors are those of "model", "state_dict", "model_state_dict" or "module",
// and other_entries() names the rest. "module." in front of every name, which DataParallel puts there,
// is left out.
//
// Errors: DataError that names the file, and the tensor or the place.
// Source: torch/serialization.py, torch/_utils.py.
#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "formats/safetensors.h"
#include "platform/files/file.h"

namespace cloze::formats {

bool is_torch_file(std::span<const std::byte> bytes);

class TorchFile {
 public:
  explicit TorchFile(const std::filesystem::path& path);

  const std::vector<TensorView>& tensors() const { return tensors_; }
  const std::vector<std::string>& other_entries() const { return other_entries_; }
  // Releases the memory of what was read of the file (platform/files/file.h); copies of tensors stay.
  void release_memory() const { file_.release_memory(); }

 private:
  platform::MappedFile file_;
  std::deque<std::vector<std::byte>> storage_;  // copies that tensors_ look at
  std::vector<TensorView> tensors_;
  std::vector<std::string> other_entries_;
};

}  // namespace cloze::formats

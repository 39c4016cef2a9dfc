// A model in any form in which it was saved (formats/model_tensors.h), its tensors under Hugging
// Face's names and in its layout; those of the dense layers of a sentence-transformers folder as
// "2_Dense.linear.weight". All code that needs stored parameters reads them through this class.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "checkpoints/tensorflow_tensors.h"
#include "formats/model_tensors.h"

namespace cloze::checkpoints {

class StoredModel {
 public:
  // A folder, a file, or the prefix of a TensorFlow checkpoint. Errors as model_tensors.h and
  // tensorflow_tensors.h.
  explicit StoredModel(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return file_.path(); }
  // The folder of the file: where a configuration and a vocabulary are looked for.
  std::filesystem::path folder() const;
  // Sorted names of everything in the folder that holds none of these weights.
  std::vector<std::string> other_files() const;
  bool is_tensorflow() const { return is_tensorflow_; }
  // The kind of TensorFlow names that the file has; no value when none of them is specific to one
  // kind.
  std::optional<TensorflowNames> tensorflow_names() const;

  const std::vector<formats::TensorView>& tensors() const { return converted_.tensors; }
  const formats::TensorView* find(std::string_view name) const {
    return formats::find_tensor(tensors(), name);
  }
  // Everything else in the file, by name: optimiser slots and the like, tensors that are not part
  // of a BERT (TensorFlow's only), entries that are not tensors.
  const std::vector<std::string>& training_state() const { return converted_.training_state; }
  const std::vector<std::string>& unknown() const { return converted_.unknown; }
  const std::vector<std::string>& other_entries() const { return file_.other_entries(); }
  // The optimiser's moments in a TensorFlow checkpoint (moments_from_tensorflow()), and how many
  // updates were done, where that is stored.
  ConvertedTensors moments() const;
  std::optional<int64_t> global_step() const;
  // Releases the memory of what was read of the tensors (platform/files/file.h).
  void release_memory() const;

 private:
  void add_dense_layers();

  formats::ModelTensors file_;
  std::vector<formats::ModelTensors> dense_layers_;
  bool is_tensorflow_;
  ConvertedTensors converted_;
};

// The configuration beside a model: config.json, or bert_config.json as Google's checkpoints have.
// UserError when there is neither. `model` is a folder, a file or a prefix.
std::filesystem::path configuration_of(const std::filesystem::path& model);
bool has_configuration(const std::filesystem::path& folder);
// The folder itself, or the folder of a file or prefix.
std::filesystem::path folder_of(const std::filesystem::path& model);

}  // namespace cloze::checkpoints

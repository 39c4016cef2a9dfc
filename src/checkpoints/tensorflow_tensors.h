// A BERT's tensors between TensorFlow's checkpoints and ours: names (tensor_names.h), transposed
// matrices, and what TensorFlow's programs store in different pieces than we do:
//
//   bert/embeddings/s{i}/word_embeddings            rows of the word table, parts in order of i
//   .../attention/self/kernel/qkv_weight [H, 3H]    query, key and value side by side
//   .../attention/self/qkv_bias [3H]                their biases, end to end
//   .../convolution/pre/glu/{values,gates}/dense    GroupBERT's; ours is one tensor, gates first
//   .../convolution/pre/dense/{kernel [H, 2H], bias [2H]}    the same in research checkpoints,
//                                                   values first
//
// The dtype of a tensor stays as it is. Errors: DataError that names the tensor, when a shape is
// impossible, a part is missing, or a tensor is stored in two forms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "checkpoints/tensor_names.h"
#include "formats/safetensors.h"

namespace cloze::checkpoints {

// Views of the originals' bytes, or of `storage` where those had to be rearranged.
struct ConvertedTensors {
  std::vector<formats::TensorView> tensors;
  std::deque<std::vector<std::byte>> storage;
  std::vector<std::string> training_state;  // names of optimiser slots and the like, left out
  std::vector<std::string> unknown;         // names of what is not part of a BERT, left out
};

bool has_tensorflow_names(std::span<const formats::TensorView> tensors);

// All kinds of TensorFlow names to Hugging Face's.
ConvertedTensors from_tensorflow(std::span<const formats::TensorView> tensors);

// The moments of Adam or LAMB, laid out as the tensors they belong to, under the names of our
// optimisers' state (optim/optimizer.h): optimizer.m.TENSOR and optimizer.v.TENSOR.
ConvertedTensors moments_from_tensorflow(std::span<const formats::TensorView> tensors);

struct TensorflowLayout {
  TensorflowNames names = TensorflowNames::kGoogle;
  bool fuses_qkv = false;       // one kernel [H, 3H]; the biases stay three; always in kResearch
  int64_t num_word_tables = 1;  // parts of the word table; UserError when its rows do not divide
};
ConvertedTensors to_tensorflow(std::span<const formats::TensorView> tensors,
                               const TensorflowLayout& layout);

}  // namespace cloze::checkpoints

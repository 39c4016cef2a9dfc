// Changes of a whole model's tensors on their way from one checkpoint to another: the dtype of the
// weights, how many words the vocabulary has, and biases of zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "formats/safetensors.h"

namespace cloze::checkpoints {

// Holds the bytes of changed tensors; it outlives the views.
using TensorStorage = std::deque<std::vector<std::byte>>;

// Floating tensors to f32 or f16, rounded to nearest even; others stay. UserError that names the
// tensor and the value when it is finite and too large for f16.
void convert_precision(formats::TensorView& tensor, DType dtype, TensorStorage& storage);

// Cuts the tensors with a row per word (bert.embeddings.word_embeddings.weight,
// cls.predictions.bias and copies of them) to `rows`, or appends rows: each the mean of the
// existing ones, rounded to the tensor's dtype; transformers' resize_token_embeddings draws new
// rows around that mean.
void resize_vocabulary(std::vector<formats::TensorView>& tensors, int64_t rows,
                       TensorStorage& storage);

bool is_all_zeros(const formats::TensorView& tensor);

// The bias of a GroupBERT's convolution.
bool is_convolution_bias(std::string_view name);
struct ConvolutionBiases {
  std::vector<std::string> names = {};
  bool are_zeros = false;
};
// The convolution biases among the tensors; they are removed where all of them are zeros.
ConvolutionBiases take_zero_convolution_biases(std::vector<formats::TensorView>& tensors);

// The rows of the word table; 0 when there is none.
int64_t vocabulary_rows(const std::vector<formats::TensorView>& tensors);

}  // namespace cloze::checkpoints

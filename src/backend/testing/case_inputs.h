// Inputs that the cases of several operators share.
#pragma once

#include <optional>
#include <vector>

#include "backend/testing/tensor.h"
#include "ops/gelu.h"

namespace cloze::backend::testing {

// sample_ids, position_ids [T] and random_key [2], consecutive inputs from `first` on. Some are
// large numbers: all 32 bits count.
void fill_random_inputs(std::vector<Tensor>& inputs, size_t first, Random& random);

// [B+1] from the lengths of the sequences.
std::vector<double> starts_of(const std::vector<int64_t>& lengths);

// Every second label is the largest logit of its row, the last is -1 (ignored) when there are
// several, and the rest are random.
void fill_labels(Tensor& labels, const Tensor& logits, Random& random);

// Rounds the values to this dtype, whatever the tensor is stored in: rounding to it again changes
// nothing.
void round_values(Tensor& tensor, DType dtype);

// KernelCase::absolute_error of a result that went through this activation.
double absolute_error_of(const std::optional<ops::GeluForm>& activation);

}  // namespace cloze::backend::testing

// Inputs that the cases of several operators share.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "backend/testing/kernel_case.h"
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

// Fills the inputs of a loss from `first` on.
using FillLoss = std::function<void(std::vector<Tensor>& inputs, size_t first, Random& random)>;
// A case of a loss and one of its gradient, which reads dloss and then the same inputs. Of the
// gradient only what differs is given.
void add_loss_and_gradient(std::vector<KernelCase>& cases, KernelCase loss, KernelCase gradient,
                           const FillLoss& fill);

// Rounds the values to this dtype, whatever the tensor is stored in: rounding to it again changes
// nothing.
void round_values(Tensor& tensor, DType dtype);

// KernelCase::absolute_error of a result that went through this activation.
double absolute_error_of(const std::optional<ops::GeluForm>& activation);

}  // namespace cloze::backend::testing

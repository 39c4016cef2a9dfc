// Every kernel of this folder, a table for each file; backend.cc puts the tables in order.
#pragma once

#include <span>

#include "backend/kernel.h"

namespace cloze::backend::cpu {

// A kernel of an operator, by the name cpu/OPERATOR/METHOD; the rest is as KernelEntry has it.
struct KernelRow {
  const graph::OpDefinition* op = nullptr;
  std::string_view method;
  std::optional<std::string> (*refuse)(const KernelRequest&) = nullptr;
  std::unique_ptr<Kernel> (*create)(const KernelRequest&) = nullptr;
};
using KernelTable = std::span<const KernelRow>;

// Vector kernels: rows and elements, f32, bf16 and f16.
KernelTable cross_entropy_kernels();
KernelTable elementwise_kernels();
KernelTable embedding_kernels();
KernelTable gather_rows_kernels();
KernelTable layer_norm_kernels();

// Vector kernels: the update phase, f32.
KernelTable global_norm_kernels();
KernelTable gradient_descent_kernels();
KernelTable optimizer_update_kernels();
KernelTable stochastic_rounding_kernels();

// Products: linear, grouped_convolution, attention, vocabulary_loss; f32, bf16 and f16.
KernelTable attention_kernels();
KernelTable attention_gradient_kernels();
KernelTable grouped_convolution_kernels();
KernelTable linear_kernels();
KernelTable pack_weight_kernels();
KernelTable packed_linear_kernels();
KernelTable vocabulary_loss_kernels();
KernelTable native_attention_kernels();  // bf16 units only, like the next three
KernelTable native_attention_gradient_kernels();
KernelTable native_linear_kernels();
KernelTable native_packed_linear_kernels();

}  // namespace cloze::backend::cpu

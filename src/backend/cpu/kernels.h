// Every kernel of this folder, a table for each file: one by the name of each family of operators
// (backend/operator_families.h), and a few more; backend.cc puts the tables in order.
#pragma once

#include <span>

#include "backend/kernel.h"
#include "backend/operator_families.h"

namespace cloze::backend::cpu {

// A kernel of an operator, by the name cpu/OPERATOR/METHOD; the rest is as KernelEntry has it.
struct KernelRow {
  const graph::OpDefinition* op = nullptr;
  std::string_view method;
  std::optional<std::string> (*refuse)(const KernelRequest&) = nullptr;
  std::unique_ptr<Kernel> (*create)(const KernelRequest&) = nullptr;
};
using KernelTable = std::span<const KernelRow>;

#define CLOZE_DECLARE_KERNELS(family) KernelTable family##_kernels();
CLOZE_OPERATOR_FAMILIES(CLOZE_DECLARE_KERNELS)
#undef CLOZE_DECLARE_KERNELS

// Further tables of a family, where one file would be too long.
KernelTable attention_gradient_kernels();
KernelTable global_norm_kernels();
KernelTable pack_weight_kernels();
KernelTable native_attention_kernels();  // bf16 units only, like the next three
KernelTable native_attention_gradient_kernels();
KernelTable native_linear_kernels();
KernelTable native_packed_linear_kernels();

}  // namespace cloze::backend::cpu

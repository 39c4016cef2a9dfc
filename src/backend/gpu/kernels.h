// The kernels of operators, for a card or emulated, a table for each file. A file holds for each of
// its operators what it launches (call.h):
//
//   struct Tanh {
//     static constexpr const graph::OpDefinition& kOp = ops::kTanh;
//     template <typename T>                            float or bf16, the dtype of activations
//     static void run(const Call& call) { ... }
//     static size_t workspace_bytes(const KernelRequest&);                 where it takes any
//     static std::optional<std::string> refuse(const KernelRequest&);      where it does
//     static constexpr std::string_view kVariant = "rows";                 where there are others
//   };
//
//   KernelTable elementwise_kernels() { return table_of<Tanh, ...>(); }
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "backend/gpu/call.h"
#include "backend/gpu/kernels_by_operator.h"
#include "backend/kernel.h"
#include "backend/operator_families.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {

// Says that it serves f32, and bf16 beside it.
std::optional<std::string> refuse_other_storage(const KernelRequest& request);
bool has_bf16(const KernelRequest& request);

template <typename Operator>
class OperatorKernel final : public Kernel {
 public:
  explicit OperatorKernel(const KernelRequest& request) : request_(request) {}

  size_t workspace_bytes() const override {
    if constexpr (requires { Operator::workspace_bytes(request_); }) {
      return Operator::workspace_bytes(request_);
    }
    return 0;
  }

  void run(const KernelArguments& arguments, Stream& stream) override {
    Launcher launcher(request_.op->name, stream);
    const Call call(request_, arguments, launcher);
    if (has_bf16(request_)) {
      Operator::template run<bf16>(call);
    } else {
      Operator::template run<float>(call);
    }
    launcher.finish();
  }

 private:
  KernelRequest request_;
};

struct KernelRow {
  const graph::OpDefinition* op = nullptr;
  std::string_view variant;  // of several kernels of an operator; may be empty
  std::optional<std::string> (*refuse)(const KernelRequest&) = nullptr;
  std::unique_ptr<Kernel> (*create)(const KernelRequest&) = nullptr;
};
using KernelTable = std::span<const KernelRow>;

template <typename Operator>
std::optional<std::string> refuse(const KernelRequest& request) {
  if (auto why = refuse_other_storage(request)) return why;
  if constexpr (requires { Operator::refuse(request); }) return Operator::refuse(request);
  return std::nullopt;
}

template <typename Operator>
std::unique_ptr<Kernel> create(const KernelRequest& request) {
  return std::make_unique<OperatorKernel<Operator>>(request);
}

template <typename Operator>
constexpr std::string_view variant_of() {
  if constexpr (requires { Operator::kVariant; }) return Operator::kVariant;
  return "";
}

template <typename... Operators>
KernelTable table_of() {
  static constexpr KernelRow kRows[] = {
      {&Operators::kOp, variant_of<Operators>(), refuse<Operators>, create<Operators>}...};
  return kRows;
}

// A table by the name of each family of operators (backend/operator_families.h), and a few more.
#define CLOZE_DECLARE_KERNELS(family) KernelTable family##_kernels();
CLOZE_OPERATOR_FAMILIES(CLOZE_DECLARE_KERNELS)
#undef CLOZE_DECLARE_KERNELS
KernelTable global_norm_kernels();
KernelTable tiled_attention_kernels();
KernelTable tiled_attention_gradient_kernels();

// All of these; of an operator the best kernel first. They are called "DEVICE/OPERATOR" or
// "DEVICE/OPERATOR/VARIANT".
const KernelsByOperator& kernels_by_operator();

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET

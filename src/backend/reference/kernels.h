// The reference kernels: a file for each family of operators (backend/operator_families.h), which
// ends with the table of its kernels. X is the storage type of activations (call.h).
//
//   CLOZE_REFERENCE_KERNEL(Tanh, Tanh);         the kernel Tanh of ops::kTanh, which has the names
//                                               of its inputs and outputs from ops::Tanh
//   template <typename X>
//   void Tanh::run(const Call& call) { ... }
//
//   KernelTable elementwise_kernels() { return table_of<Tanh, ...>(); }
#pragma once

#include <memory>
#include <span>

#include "backend/operator_families.h"
#include "backend/reference/call.h"
#include "base/error.h"

namespace cloze::backend::reference {

#define CLOZE_REFERENCE_KERNEL(Operator, Names, ...)                    \
  struct Operator : ops::Names {                                        \
    static constexpr const graph::OpDefinition& kOp = ops::k##Operator; \
    template <typename X>                                               \
    static void run(const Call& call);                                  \
    __VA_ARGS__                                                         \
  }
#define CLOZE_REFERENCE_KERNEL_WITH_WORKSPACE(Operator, Names) \
  CLOZE_REFERENCE_KERNEL(Operator, Names, static size_t workspace_bytes(const KernelRequest&);)

// The dtype of activations: bf16 or f16 when it occurs beside f32.
DType storage_dtype(const KernelRequest& request);

template <typename Operator>
class ReferenceKernel final : public Kernel {
 public:
  explicit ReferenceKernel(const KernelRequest& request)
      : request_(request), storage_(storage_dtype(request)) {}

  size_t workspace_bytes() const override {
    if constexpr (requires { Operator::workspace_bytes(request_); }) {
      return Operator::workspace_bytes(request_);
    }
    return 0;
  }

  void run(const KernelArguments& arguments, Stream&) override {
    const Call call{request_, arguments};
    switch (storage_) {
      case DType::kF32:
        return Operator::template run<float>(call);
      case DType::kBF16:
        return Operator::template run<bfloat16>(call);
      case DType::kF16:
        return Operator::template run<float16>(call);
      case DType::kF64:
        return Operator::template run<double>(call);
      default:
        CLOZE_CHECK(false, "{} on {}", request_.op->name, name_of(storage_));
    }
  }

 private:
  KernelRequest request_;
  DType storage_;
};

// A kernel is called as its operator, and serves what all of them serve (backend.h).
struct KernelRow {
  const graph::OpDefinition* op = nullptr;
  std::unique_ptr<Kernel> (*create)(const KernelRequest&) = nullptr;
};
using KernelTable = std::span<const KernelRow>;

template <typename Operator>
std::unique_ptr<Kernel> create(const KernelRequest& request) {
  return std::make_unique<ReferenceKernel<Operator>>(request);
}

template <typename... Operators>
KernelTable table_of() {
  static constexpr KernelRow kRows[] = {{&Operators::kOp, create<Operators>}...};
  return kRows;
}

#define CLOZE_DECLARE_KERNELS(family) KernelTable family##_kernels();
CLOZE_OPERATOR_FAMILIES(CLOZE_DECLARE_KERNELS)
#undef CLOZE_DECLARE_KERNELS

}  // namespace cloze::backend::reference

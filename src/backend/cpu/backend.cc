#include "backend/cpu/backend.h"

#include <fmt/format.h>

#include <deque>
#include <unordered_map>

#include "backend/cpu/instruction_set.h"
#include "backend/cpu/kernels.h"
#include "backend/cpu/packing.h"
#include "backend/host/host_backend.h"
#include "backend/host/host_device.h"
#include "backend/host/host_target.h"
#include "backend/reference/backend.h"

namespace cloze::backend::cpu {

// Heads of fine-tuning run once per step on a few numbers: the reference serves them.
KernelTable binary_cross_entropy_kernels() { return {}; }
KernelTable choice_loss_kernels() { return {}; }
KernelTable span_loss_kernels() { return {}; }
KernelTable squared_error_kernels() { return {}; }

namespace {

// Where several kernels serve an operator, the best comes first.
constexpr KernelTable (*kTables[])() = {
    // Where the processor multiplies bf16 itself.
    native_attention_kernels, native_attention_gradient_kernels, native_linear_kernels,
    native_packed_linear_kernels,
    // Anywhere.
    attention_gradient_kernels, global_norm_kernels, pack_weight_kernels,
#define CLOZE_KERNELS(family) family##_kernels,
    CLOZE_OPERATOR_FAMILIES(CLOZE_KERNELS)
#undef CLOZE_KERNELS
};

// The threads, and the instructions that kernels compute with.
class CpuTarget final : public host::HostTarget {
 public:
  using HostTarget::HostTarget;
  std::string description() const override {
    return fmt::format("{}, {}", HostTarget::description(), name_of(instruction_set()));
  }
};

class CpuBackend final : public host::HostBackend {
 public:
  CpuBackend() {
    for (const auto& table : kTables) {
      for (const KernelRow& row : table()) {
        names_.push_back(fmt::format("cpu/{}/{}", row.op->name, row.method));
        kernels_[row.op].push_back({names_.back(), row.refuse, row.create});
      }
    }
    for (auto& [op, kernels] : kernels_) {
      const auto fallback = reference::backend().kernels(*op);
      kernels.insert(kernels.end(), fallback.begin(), fallback.end());
    }
  }

  std::string_view name() const override { return "cpu"; }
  std::string instruction_set() const override {
    return std::string(name_of(cpu::instruction_set()));
  }
  std::shared_ptr<const Target> target(const TargetOptions& options) const override {
    return std::make_shared<CpuTarget>(options);
  }
  std::vector<GraphPass> inference_passes(DType weights) const override {
    return packing_passes(weight_packing(weights));
  }
  std::vector<LayoutFact> weight_layout(DType weights) const override {
    return cpu::weight_layout(weights);
  }
  std::optional<std::string> refuse_layout(DType weights,
                                           std::span<const LayoutFact> there) const override {
    return cpu::refuse_layout(weights, there);
  }
  std::span<const KernelEntry> kernels(const graph::OpDefinition& op) const override {
    const auto found = kernels_.find(&op);
    return found == kernels_.end() ? reference::backend().kernels(op) : found->second;
  }

 private:
  std::deque<std::string> names_;
  std::unordered_map<const graph::OpDefinition*, std::vector<KernelEntry>> kernels_;  // best first
};

}  // namespace

const Backend& backend() {
  static const CpuBackend backend;
  return backend;
}

Device& device() {
  static host::HostDevice device(backend());
  return device;
}

}  // namespace cloze::backend::cpu

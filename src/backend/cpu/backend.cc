#include "backend/cpu/backend.h"

#include <fmt/format.h>

#include <deque>
#include <unordered_map>

#include "backend/cpu/instruction_set.h"
#include "backend/cpu/kernels.h"
#include "backend/cpu/native/matmul.h"
#include "backend/cpu/packed_linear.h"
#include "backend/host/host_device.h"
#include "backend/host/host_target.h"
#include "backend/reference/backend.h"

namespace cloze::backend::cpu {

// They run once per step on a few numbers: the reference serves them.
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

class CpuBackend final : public Backend {
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
  std::shared_ptr<const Target> target(const TargetOptions& options) const override {
    return std::make_shared<CpuTarget>(options);
  }
  // bf16 weights are laid out in pairs where the processor multiplies bf16 itself: that is faster
  // there.
  ops::PackWeightAttributes weight_layout(DType precision) const override {
    const bool in_pairs = precision == DType::kBF16 && !refuse_native_bf16();
    return {.panel_columns = weight_panel_columns(),
            .dtype = precision,
            .layout = in_pairs ? ops::WeightLayout::kPairs : ops::WeightLayout::kPanels};
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

#include "backend/emulated/emulated_device.h"

#include <cstdlib>

#include "backend/cpu/backend.h"
#include "backend/gpu/emulation/seed.h"
#include "backend/gpu/graph_passes.h"
#include "backend/gpu/kernels.h"
#include "backend/host/host_backend.h"
#include "backend/host/host_device.h"
#include "base/error.h"
#include "base/whole_number.h"

namespace cloze::backend::emulated {
namespace {

class EmulatedBackend final : public host::HostBackend {
 public:
  EmulatedBackend() : kernels_(gpu::kernels_by_operator()) {
    for (auto& [op, kernels] : kernels_) {
      const auto others = cpu::backend().kernels(*op);
      kernels.insert(kernels.end(), others.begin(), others.end());
    }
  }

  std::string_view name() const override { return "emulated"; }
  std::string instruction_set() const override { return cpu::backend().instruction_set(); }
  std::vector<GraphPass> training_passes() const override { return gpu::training_passes(); }
  std::vector<GraphPass> inference_passes(DType weights) const override {
    return gpu::inference_passes(weights);
  }
  std::vector<LayoutFact> weight_layout(DType) const override { return gpu::weight_layout(); }
  std::span<const KernelEntry> kernels(const graph::OpDefinition& op) const override {
    const auto own = gpu::kernels_of(kernels_, op);
    return own.empty() ? cpu::backend().kernels(op) : own;
  }

 private:
  gpu::KernelsByOperator kernels_;
};

uint64_t seed_of_environment() {
  const char* const seed = std::getenv("CLOZE_EMULATED_SEED");
  if (seed == nullptr) return 0;
  const auto number = number_in<uint64_t>(seed);
  if (!number) throw_user_error("CLOZE_EMULATED_SEED is {}; give a whole number", seed);
  return *number;
}

}  // namespace

const Backend& backend() {
  static const EmulatedBackend backend;
  return backend;
}

std::span<const KernelEntry> own_kernels(const graph::OpDefinition& op) {
  return gpu::kernels_of(gpu::kernels_by_operator(), op);
}

Device& device() {
  static host::HostDevice device = [] {
    gpu::emulation::set_seed(seed_of_environment());
    return host::HostDevice(backend());
  }();
  return device;
}

}  // namespace cloze::backend::emulated

#include "backend/emulated/emulated_device.h"

#include <fmt/format.h>

#include <cstdlib>
#include <deque>
#include <unordered_map>
#include <vector>

#include "backend/cpu/backend.h"
#include "backend/gpu/emulation/seed.h"
#include "backend/gpu/kernels.h"
#include "backend/host/host_backend.h"
#include "backend/host/host_device.h"
#include "base/error.h"
#include "base/whole_number.h"

namespace cloze::backend::emulated {
namespace {

class EmulatedBackend final : public host::HostBackend {
 public:
  EmulatedBackend() {
    for (const gpu::KernelTable& table : gpu::kernel_tables()) {
      for (const gpu::KernelRow& row : table) {
        names_.push_back(fmt::format("emulated/{}{}{}", row.op->name,
                                     row.variant.empty() ? "" : "/", row.variant));
        kernels_[row.op].push_back({names_.back(), row.refuse, row.create});
      }
    }
    for (auto& [op, kernels] : kernels_) {
      num_own_[op] = kernels.size();
      const auto others = cpu::backend().kernels(*op);
      kernels.insert(kernels.end(), others.begin(), others.end());
    }
  }

  std::string_view name() const override { return "emulated"; }
  std::string instruction_set() const override { return cpu::backend().instruction_set(); }
  std::span<const KernelEntry> kernels(const graph::OpDefinition& op) const override {
    const auto found = kernels_.find(&op);
    return found == kernels_.end() ? cpu::backend().kernels(op) : found->second;
  }
  std::span<const KernelEntry> own_kernels(const graph::OpDefinition& op) const {
    const auto found = num_own_.find(&op);
    return found == num_own_.end() ? std::span<const KernelEntry>()
                                   : kernels(op).first(found->second);
  }

 private:
  std::deque<std::string> names_;
  std::unordered_map<const graph::OpDefinition*, std::vector<KernelEntry>> kernels_;  // best first
  std::unordered_map<const graph::OpDefinition*, size_t> num_own_;  // the first of them
};

uint64_t seed_of_environment() {
  const char* const seed = std::getenv("CLOZE_EMULATED_SEED");
  if (seed == nullptr) return 0;
  const auto number = number_in<uint64_t>(seed);
  if (!number) throw_user_error("CLOZE_EMULATED_SEED is {}; give a whole number", seed);
  return *number;
}

const EmulatedBackend& instance() {
  static const EmulatedBackend backend;
  return backend;
}

}  // namespace

const Backend& backend() { return instance(); }

std::span<const KernelEntry> own_kernels(const graph::OpDefinition& op) {
  return instance().own_kernels(op);
}

Device& device() {
  static host::HostDevice device = [] {
    gpu::emulation::set_seed(seed_of_environment());
    return host::HostDevice(backend());
  }();
  return device;
}

}  // namespace cloze::backend::emulated

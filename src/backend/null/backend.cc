#include "backend/null/backend.h"

#include "backend/host/host_backend.h"
#include "backend/host/host_device.h"

namespace cloze::backend::null {
namespace {

class NullKernel : public Kernel {
 public:
  void run(const KernelArguments&, Stream&) override {}
};

constexpr KernelEntry kEntry{
    .name = "null",
    .refuse = [](const KernelRequest&) -> std::optional<std::string> { return std::nullopt; },
    .create = [](const KernelRequest&) -> std::unique_ptr<Kernel> {
      return std::make_unique<NullKernel>();
    }};

class NullBackend final : public host::HostBackend {
 public:
  std::string_view name() const override { return "null"; }
  std::span<const KernelEntry> kernels(const graph::OpDefinition&) const override {
    return {&kEntry, 1};
  }
};

}  // namespace

const Backend& backend() {
  static const NullBackend instance;
  return instance;
}

Device& device() {
  static host::HostDevice instance(backend());
  return instance;
}

}  // namespace cloze::backend::null

#include "plan/kernel_choice.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "ops/tanh.h"

namespace cloze::plan {
namespace {

// Refuses what it has a kernel for.
class Refusing final : public backend::Backend {
 public:
  explicit Refusing(std::vector<backend::KernelEntry> kernels) : kernels_(std::move(kernels)) {}
  std::string_view name() const override { return "small"; }
  std::string instruction_set() const override { return ""; }
  std::shared_ptr<const backend::Target> target(const backend::TargetOptions&) const override {
    return nullptr;
  }
  std::vector<backend::GraphPass> training_passes() const override { return {}; }
  std::vector<backend::GraphPass> evaluation_passes() const override { return {}; }
  std::vector<backend::GraphPass> inference_passes(DType) const override { return {}; }
  std::span<const backend::KernelEntry> kernels(const graph::OpDefinition&) const override {
    return kernels_;
  }

 private:
  std::vector<backend::KernelEntry> kernels_;
};

std::string refusal(const backend::Backend& backend) {
  backend::KernelRequest request;
  request.op = &ops::kTanh;
  try {
    choose_kernel(backend, request);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(KernelChoice, SaysThatADeviceHasNoKernel) {
  EXPECT_EQ(refusal(Refusing({})),
            "device small cannot compute tanh here: it has no kernel for it yet; choose another "
            "`device`");
}

TEST(KernelChoice, SaysWhatEachKernelRefuses) {
  const auto refuse = [](const backend::KernelRequest&) {
    return std::optional<std::string>("serves f32");
  };
  EXPECT_EQ(refusal(Refusing({{"small/tanh", refuse, nullptr}, {"small/slow", refuse, nullptr}})),
            "device small cannot compute tanh here: small/tanh: serves f32; small/slow: serves "
            "f32; choose "
            "another `device`");
}

}  // namespace
}  // namespace cloze::plan

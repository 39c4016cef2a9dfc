// Every kernel for GPUs, emulated, against the reference. The sweep takes several seeds.
#include "backend/emulated/emulated_device.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "backend/gpu/chunks.h"
#include "backend/gpu/emulation/seed.h"
#include "backend/reference/backend.h"
#include "backend/testing/check_kernel.h"
#include "base/error.h"
#include "ops/gradient_descent.h"
#include "ops/optimizer_update.h"

namespace cloze::backend::emulated {
namespace {

std::vector<const graph::OpDefinition*> operators_with_own_kernels() {
  std::vector<const graph::OpDefinition*> operators;
  for (const graph::OpDefinition* op : reference::operators()) {
    if (!own_kernels(*op).empty()) operators.push_back(op);
  }
  return operators;
}

class EmulatedKernels : public ::testing::TestWithParam<const graph::OpDefinition*> {};

TEST_P(EmulatedKernels, AgreeWithTheReference) {
  gpu::emulation::set_seed(0);
  int served = 0;
  for (const testing::KernelCase& one : testing::kernel_cases(*GetParam())) {
    for (const KernelEntry& entry : own_kernels(*GetParam())) {
      const testing::CaseReport report = testing::run_case(entry, one);
      served += report.refusal ? 0 : 1;
      EXPECT_EQ(fmt::format("{}", fmt::join(report.failures, "\n")), "");
    }
  }
  EXPECT_GT(served, 0);
}

INSTANTIATE_TEST_SUITE_P(Operators, EmulatedKernels,
                         ::testing::ValuesIn(operators_with_own_kernels()),
                         [](const auto& info) { return std::string(info.param->name); });

// Parameters have more chunks than the block that adds their sums has threads.
TEST(EmulatedDevice, UpdatesParametersOfManyChunks) {
  constexpr int64_t kElements = 2 * gpu::kChunkThreads * gpu::kChunkElements + 5;
  for (const graph::OpDefinition* op :
       {&ops::kAdamW, &ops::kLamb, &ops::kMomentum, &ops::kGlobalNorm}) {
    testing::KernelCase one;
    for (testing::KernelCase& of_f32 : testing::kernel_cases(DType::kF32)) {
      if (of_f32.op == op) one = std::move(of_f32);
    }
    const Shape shape = one.inputs.front().shape;
    for (graph::TensorType& type : one.inputs) {
      if (type.shape == shape) type.shape = {kElements};
    }
    one.summed_terms = kElements;
    const testing::CaseReport report = testing::sweep_case(own_kernels(*op).front(), one);
    EXPECT_EQ(fmt::format("{}", fmt::join(report.failures, "\n")), "");
  }
}

TEST(EmulatedDevice, HasTheKernelsOfTheCpuForTheRest) {
  for (const graph::OpDefinition* op : reference::operators()) {
    const auto all = backend().kernels(*op);
    const auto own = own_kernels(*op);
    ASSERT_GT(all.size(), own.size()) << op->name;
    for (const KernelEntry& entry : own) EXPECT_TRUE(entry.name.starts_with("emulated/"));
    EXPECT_FALSE(all[own.size()].name.starts_with("emulated/")) << op->name;
  }
}

TEST(EmulatedDevice, RefusesASeedThatIsNoNumber) {
  // The seed is read once; this is the first time in this process.
  setenv("CLOZE_EMULATED_SEED", "7x", 1);
  std::string message;
  try {
    device();
  } catch (const UserError& error) {
    message = error.what();
  }
  unsetenv("CLOZE_EMULATED_SEED");
  EXPECT_EQ(message, "CLOZE_EMULATED_SEED is 7x; give a whole number");
  EXPECT_EQ(device().name(), "emulated");
}

}  // namespace
}  // namespace cloze::backend::emulated

// Every kernel for GPUs, emulated, against the reference. The sweep takes several seeds.
#include "backend/emulated/emulated_device.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "backend/gpu/chunks.h"
#include "backend/gpu/emulation/seed.h"
#include "backend/gpu/vocabulary_rows.h"
#include "backend/reference/backend.h"
#include "backend/testing/check_kernel.h"
#include "base/error.h"
#include "ops/gradient_descent.h"
#include "ops/optimizer_update.h"
#include "ops/vocabulary_loss.h"

namespace cloze::backend::emulated {
namespace {

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

INSTANTIATE_TEST_SUITE_P(Operators, EmulatedKernels, ::testing::ValuesIn(reference::operators()),
                         [](const auto& info) { return std::string(info.param->name); });

// The last case of the operator for activations of this dtype.
testing::KernelCase case_of(const graph::OpDefinition& op, DType dtype) {
  testing::KernelCase last;
  for (testing::KernelCase& one : testing::kernel_cases(dtype)) {
    if (one.op == &op) last = std::move(one);
  }
  return last;
}

void expect_no_failures(const testing::KernelCase& one) {
  const testing::CaseReport report = testing::sweep_case(own_kernels(*one.op).front(), one, {1});
  EXPECT_EQ(fmt::format("{}", fmt::join(report.failures, "\n")), "");
}

// Parameters have more chunks than the block that adds their sums has threads.
TEST(EmulatedDevice, UpdatesParametersOfManyChunks) {
  constexpr int64_t kElements = 2 * gpu::kChunkThreads * gpu::kChunkElements + 5;
  for (const graph::OpDefinition* op :
       {&ops::kAdamW, &ops::kLamb, &ops::kMomentum, &ops::kGlobalNorm}) {
    testing::KernelCase one = case_of(*op, DType::kF32);
    const Shape shape = one.inputs.front().shape;
    for (graph::TensorType& type : one.inputs) {
      if (type.shape == shape) type.shape = {kElements};
    }
    one.summed_terms = kElements;
    expect_no_failures(one);
  }
}

// More rows than two blocks of logits have, each with a normalizer of its own.
TEST(EmulatedDevice, GoesOverManyBlocksOfLogits) {
  constexpr int64_t kRows = 2 * gpu::kVocabularyRows + 5;
  using Op = ops::VocabularyLossWithGradient;
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    testing::KernelCase one = case_of(ops::kVocabularyLossWithGradient, dtype);
    one.inputs[Op::kX].shape = {kRows, 2};
    one.inputs[Op::kTable].shape = {3, 2};
    one.inputs[Op::kLabels].shape = one.inputs[Op::kNormalizer].shape = {kRows};
    one.inputs[Op::kBias].shape = {3};
    one.summed_terms = kRows;
    expect_no_failures(one);
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

// The harness must catch kernels that are wrong in each of the ways it looks for.
#include "backend/testing/check_kernel.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "backend/host/host_target.h"
#include "backend/reference/backend.h"
#include "backend/testing/run_kernel.h"
#include "backend/walled/walled_device.h"
#include "base/error.h"
#include "ops/gelu.h"
#include "ops/linear.h"

namespace cloze::backend::testing {
namespace {

enum class Fault {
  kNone,
  kWrongValue,
  kUnwritten,
  kNan,
  kInfinity,
  kOtherSign,
  kPastTheEnd,
  kWritesInput,
  kNotRepeatable,
  kDependsOnThreads,
  kPastWorkspace,
  kThrows,
};

Fault current_fault = Fault::kNone;  // what the next kernel does wrong; entries carry no state

// The reference kernel, and then the fault.
class FaultyKernel : public Kernel {
 public:
  explicit FaultyKernel(const KernelRequest& request)
      : right_(reference::backend().kernels(*request.op).front().create(request)),
        elements_(request.outputs[0].shape.elements()),
        threads_(host::threads_of(request)) {}

  size_t workspace_bytes() const override { return right_->workspace_bytes(); }

  // Makes writes that AddressSanitizer would stop at, to see that our own guards notice them.
  __attribute__((no_sanitize("address"))) void run(const KernelArguments& arguments,
                                                   Stream& stream) override {
    right_->run(arguments, stream);
    float* y = arguments.output<float>(0);
    ++runs_;
    switch (current_fault) {
      case Fault::kNone:
        return;
      case Fault::kWrongValue:
        y[elements_ - 1] *= 1.0f + 0x1p-14f;
        return;
      case Fault::kUnwritten:
        std::memset(y + elements_ / 2, 0xFF, sizeof(float));
        return;
      case Fault::kNan:
        y[0] = std::numeric_limits<float>::quiet_NaN();
        return;
      case Fault::kInfinity:
        y[0] = std::numeric_limits<float>::infinity();
        return;
      case Fault::kOtherSign:
        y[0] = -y[0];
        return;
      case Fault::kPastTheEnd:
        y[elements_] = 0.0f;
        return;
      case Fault::kWritesInput:
        arguments.input<float>(0)[0] += 1.0f;
        return;
      case Fault::kNotRepeatable:
        y[0] += runs_ % 2 == 0 ? y[0] * 0x1p-23f : 0.0f;
        return;
      case Fault::kDependsOnThreads:
        y[0] += threads_ > 1 ? y[0] * 0x1p-23f : 0.0f;
        return;
      case Fault::kPastWorkspace:
        arguments.workspace.as<char>()[workspace_bytes()] = 0;
        return;
      case Fault::kThrows:
        throw InternalError("thread 3 reads what thread 4 writes");
    }
  }

 private:
  std::unique_ptr<Kernel> right_;
  int64_t elements_;
  int threads_;
  int runs_ = 0;
};

const KernelEntry kFaulty{
    .name = "faulty",
    .refuse = [](const KernelRequest&) -> std::optional<std::string> { return std::nullopt; },
    .create = [](const KernelRequest& request) -> std::unique_ptr<Kernel> {
      return std::make_unique<FaultyKernel>(request);
    }};

KernelCase normal_linear() {
  return {.name = "harness",
          .op = &ops::kLinear,
          .attributes = ops::LinearAttributes{},
          .inputs = {{DType::kF32, {5, 7}}, {DType::kF32, {3, 7}}},
          .summed_terms = 7};
}

std::vector<std::string> failures_with(Fault fault, const KernelCase& kernel_case) {
  current_fault = fault;
  return run_case(kFaulty, kernel_case).failures;
}

void expect_caught(Fault fault, const std::string& part) {
  const auto failures = failures_with(fault, normal_linear());
  ASSERT_FALSE(failures.empty()) << part;
  EXPECT_NE(failures[0].find(part), std::string::npos) << failures[0];
  EXPECT_NE(failures[0].find("faulty: linear harness ([5, 7] f32, [3, 7] f32)"), std::string::npos)
      << failures[0];
}

void expect_all_caught() {
  EXPECT_TRUE(failures_with(Fault::kNone, normal_linear()).empty());
  expect_caught(Fault::kWrongValue, "1 of 15 elements wrong, worst [14]");
  expect_caught(Fault::kUnwritten, "1 of 15 elements wrong, worst [7] = -nan");
  expect_caught(Fault::kPastTheEnd, "bytes beside output 0 overwritten");
  expect_caught(Fault::kWritesInput, "input 0 overwritten");
  expect_caught(Fault::kNotRepeatable, "other bytes when run again");
  expect_caught(Fault::kDependsOnThreads, "threads 3: result 0: other bytes than by one thread");
  expect_caught(Fault::kPastWorkspace, "bytes beside workspace overwritten");
  expect_caught(Fault::kThrows, "threads 1: thread 3 reads what thread 4 writes");
}

TEST(CheckKernel, EveryFaultIsCaught) { expect_all_caught(); }

TEST(CheckKernel, EveryFaultIsCaughtInTheMemoryOfADevice) {
  set_device(&walled::device());
  expect_all_caught();
  set_device(nullptr);
}

// An infinity is expected as it is: neither NaN nor the other infinity is as good.
TEST(CheckKernel, InfinityIsInfinity) {
  KernelCase infinite = normal_linear();
  infinite.prepare = [](auto& inputs, Random&) {
    inputs[ops::Linear::kX].values[0] = std::numeric_limits<double>::infinity();
  };
  EXPECT_TRUE(failures_with(Fault::kNone, infinite).empty());
  for (const Fault fault : {Fault::kNan, Fault::kOtherSign}) {
    const auto failures = failures_with(fault, infinite);
    ASSERT_FALSE(failures.empty());
    EXPECT_NE(failures[0].find("1 of 15 elements wrong, worst [0]"), std::string::npos)
        << failures[0];
  }
}

// And NaN is not infinity, nor a number.
TEST(CheckKernel, NanIsNan) {
  KernelCase undefined = normal_linear();
  undefined.prepare = [](auto& inputs, Random&) {
    inputs[ops::Linear::kX].values[0] = std::numeric_limits<double>::quiet_NaN();
  };
  EXPECT_TRUE(failures_with(Fault::kNone, undefined).empty());
  const auto failures = failures_with(Fault::kInfinity, undefined);
  ASSERT_FALSE(failures.empty());
  EXPECT_NE(failures[0].find("1 of 15 elements wrong, worst [0] = inf, expected nan"),
            std::string::npos)
      << failures[0];
}

// In f16 what exceeds 65504 is infinite, and of the right sign.
TEST(CheckKernel, BeyondTheRangeIsInfinity) {
  KernelCase large = normal_linear();
  large.inputs[0].dtype = DType::kF16;
  large.prepare = [](auto& inputs, Random&) {
    for (double& value : inputs[0].values) value = 30000.0;
    for (double& value : inputs[1].values) value = 1.0;
  };
  EXPECT_TRUE(failures_with(Fault::kNone, large).empty());
  EXPECT_FALSE(failures_with(Fault::kOtherSign, large).empty());
}

TEST(CheckKernel, ZerosAreMistrustedUnlessExplained) {
  KernelCase zeros = normal_linear();
  zeros.prepare = [](auto& inputs, Random&) {
    for (double& value : inputs[ops::Linear::kWeight].values) value = 0.0;
  };
  const auto failures = failures_with(Fault::kNone, zeros);
  ASSERT_FALSE(failures.empty());
  EXPECT_NE(failures[0].find("MISTRUSTED, too many expected values are zero"), std::string::npos);
  zeros.why_zeros = "the weight is zero";
  EXPECT_TRUE(failures_with(Fault::kNone, zeros).empty());
}

// 12 - 8 - 4 - 1/32: the remaining sum is below the round-off of its terms in bf16.
TEST(CheckKernel, WideBoundsAreMistrusted) {
  KernelCase cancelling = normal_linear();
  cancelling.inputs[0].dtype = DType::kBF16;
  cancelling.through_storage = {0};
  cancelling.prepare = [](auto& inputs, Random&) {
    for (size_t i = 0; i < inputs[0].values.size(); ++i) inputs[0].values[i] = i % 7 < 4 ? 1 : -1;
    for (size_t i = 0; i < inputs[1].values.size(); ++i) {
      inputs[1].values[i] = i % 7 < 4 ? 3.0 : i % 7 < 6 ? 4.0 : 4.0 + 0x1p-5;
    }
  };
  const auto failures = failures_with(Fault::kNone, cancelling);
  ASSERT_FALSE(failures.empty());
  EXPECT_NE(failures[0].find("MISTRUSTED"), std::string::npos) << failures[0];
}

TEST(CheckKernel, RefusalIsNoFailure) {
  KernelEntry refusing = kFaulty;
  refusing.refuse = [](const KernelRequest&) -> std::optional<std::string> { return "no"; };
  const CaseReport report = run_case(refusing, normal_linear());
  EXPECT_EQ(report.refusal, "no");
  EXPECT_TRUE(report.failures.empty());
}

TEST(CheckKernel, EveryOperatorHasCases) {
  for (const graph::OpDefinition* op : reference::operators()) {
    EXPECT_FALSE(kernel_cases(*op).empty()) << op->name;
  }
}

}  // namespace
}  // namespace cloze::backend::testing

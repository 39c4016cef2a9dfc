#include "backend/cuda/cuda_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>

#include "backend/cuda/card_device.h"
#include "backend/cuda/testing/late_runtime.h"
#include "backend/gpu/card.h"
#include "base/error.h"

namespace cloze::backend::cuda {
namespace {

using Bytes = std::array<std::byte, 4>;

Bytes all(int value) {
  Bytes bytes;
  bytes.fill(static_cast<std::byte>(value));
  return bytes;
}

// Its work is what a launch puts into the stream.
class Work final : public Kernel {
 public:
  explicit Work(std::function<cudaError_t(const KernelArguments&)> work) : work_(std::move(work)) {}
  void run(const KernelArguments& arguments, Stream& stream) override {
    const DeviceAddress input = arguments.inputs.empty() ? DeviceAddress() : arguments.inputs[0];
    gpu::check_launch("work", late_runtime::give(gpu::stream_of(stream), [this, input] {
                        return work_({.inputs = {&input, 1}, .outputs = {}, .workspace = {}});
                      }));
  }

 private:
  std::function<cudaError_t(const KernelArguments&)> work_;
};

class NoBackend final : public Backend {
 public:
  std::string_view name() const override { return "cuda"; }
  std::string instruction_set() const override { return ""; }
  std::shared_ptr<const Target> target(const TargetOptions&) const override { return nullptr; }
  std::vector<GraphPass> training_passes() const override { return {}; }
  std::vector<GraphPass> evaluation_passes() const override { return {}; }
  std::vector<GraphPass> inference_passes(DType) const override { return {}; }
  std::span<const KernelEntry> kernels(const graph::OpDefinition&) const override { return {}; }
};

class CudaStreamTest : public ::testing::Test {
 protected:
  void SetUp() override { late_runtime::reset(2); }
  void TearDown() override {
    EXPECT_EQ(late_runtime::machine().findings, std::vector<std::string>());
  }

  Bytes value_of(const DeviceMemory& memory) {
    Bytes bytes = all(99);
    device_.make_stream()->copy_out(memory.start(), bytes);
    return bytes;
  }

  // Adds one to each byte of its input.
  Work add_one_{[](const KernelArguments& arguments) {
    auto* const bytes = arguments.input<uint8_t>(0);
    for (size_t i = 0; i < sizeof(Bytes); ++i) ++bytes[i];
    return cudaSuccess;
  }};
  Work fault_{[](const KernelArguments&) { return cudaErrorIllegalAddress; }};

  NoBackend backend_;
  CardDevice device_{backend_, 1};
};

std::string message_of(const std::function<void()>& call) {
  try {
    call();
    return "no error";
  } catch (const EnvironmentError& error) {
    return error.what();
  }
}

TEST_F(CudaStreamTest, MemoryBeginsAsZeros) {
  const auto memory = device_.allocate(sizeof(Bytes));
  EXPECT_EQ(memory->bytes(), sizeof(Bytes));
  EXPECT_EQ(value_of(*memory), all(0));
  const auto block = device_.allocate_host(sizeof(Bytes));
  EXPECT_TRUE(std::ranges::equal(block->bytes(), all(0)));
  EXPECT_EQ(device_.allocate(0)->bytes(), 0u);
  EXPECT_TRUE(device_.allocate_host(0)->bytes().empty());
}

TEST_F(CudaStreamTest, SaysHowMuchMemoryWasWanted) {
  late_runtime::machine().free_bytes = size_t{3} << 20;
  EXPECT_EQ(
      message_of([&] { device_.allocate(size_t{5} << 20); }),
      "cannot allocate 5 MiB of memory of card 1, of whose 81920 MiB 3 are free; choose smaller "
      "batches or a smaller model");
  EXPECT_EQ(
      message_of([&] { device_.allocate_host(size_t{5} << 20); }),
      "cannot allocate 5 MiB of the host's memory for copies to a card; choose smaller batches "
      "or a smaller model");
  EXPECT_NO_THROW(device_.allocate(1 << 20));
}

TEST_F(CudaStreamTest, WorkIsDoneInItsOrder) {
  const auto first = device_.allocate(sizeof(Bytes)), second = device_.allocate(sizeof(Bytes));
  const auto stream = device_.make_stream();
  const std::vector<BoundLaunch> launches(3, {.kernel = &add_one_, .inputs = {first->start()}});
  stream->copy_in(first->start(), all(5));
  stream->launch(launches, "micro_step");
  stream->copy(second->start(), first->start(), sizeof(Bytes));
  stream->fill_with_zeros(first->start(), sizeof(Bytes));
  stream->finish();
  EXPECT_EQ(value_of(*second), all(8));
  EXPECT_EQ(value_of(*first), all(0));
}

TEST_F(CudaStreamTest, ASourceMayChangeOnceItIsCopied) {
  const auto memory = device_.allocate(sizeof(Bytes));
  const auto stream = device_.make_stream();
  Bytes source = all(7);
  stream->copy_in(memory->start(), source);
  source = all(9);
  EXPECT_EQ(value_of(*memory), all(7));
}

TEST_F(CudaStreamTest, CopiesThatAreBegunEndLater) {
  const auto memory = device_.allocate(sizeof(Bytes));
  const auto in = device_.allocate_host(sizeof(Bytes)), out = device_.allocate_host(sizeof(Bytes));
  const auto stream = device_.make_stream();
  std::ranges::fill(in->bytes(), std::byte{3});
  stream->begin_copy_in(memory->start(), in->bytes());
  stream->begin_copy_out(memory->start(), out->bytes());
  const auto event = stream->record();
  EXPECT_TRUE(std::ranges::equal(out->bytes(), all(0)));
  event->finish();
  EXPECT_TRUE(std::ranges::equal(out->bytes(), all(3)));
}

TEST_F(CudaStreamTest, AStreamWaitsForAnEventOfAnother) {
  const auto memory = device_.allocate(sizeof(Bytes));
  const auto first = device_.make_stream(), second = device_.make_stream();
  const BoundLaunch launch{.kernel = &add_one_, .inputs = {memory->start()}};
  first->launch({&launch, 1}, "backward");
  second->wait(*first->record());
  Bytes bytes;
  second->copy_out(memory->start(), bytes);
  EXPECT_EQ(bytes, all(1));
}

TEST_F(CudaStreamTest, AStreamMayEndBeforeItsWork) {
  const auto memory = device_.allocate(sizeof(Bytes));
  const BoundLaunch launch{.kernel = &add_one_, .inputs = {memory->start()}};
  device_.make_stream()->launch({&launch, 1}, "backward");
  EXPECT_EQ(value_of(*memory), all(1));
}

TEST_F(CudaStreamTest, MemoryIsFreedOnceWorkIsDone) {
  auto memory = device_.allocate(sizeof(Bytes));
  const auto stream = device_.make_stream();
  stream->fill_with_zeros(memory->start(), sizeof(Bytes));
  memory.reset();  // the stand-in finds it if it comes too early
}

TEST_F(CudaStreamTest, TimesAreBetweenEvents) {
  const auto memory = device_.allocate(sizeof(Bytes));
  const auto stream = device_.make_stream();
  const std::vector<BoundLaunch> launches(4, {.kernel = &add_one_, .inputs = {memory->start()}});
  const auto begin = stream->record();
  stream->launch(launches, "micro_step");
  const auto end = stream->record();
  EXPECT_NEAR(device_.seconds_between(*begin, *end), 0.005, 1e-9);
}

TEST_F(CudaStreamTest, ALateErrorNamesTheLaunchesThatMayHaveMadeIt) {
  const auto memory = device_.allocate(sizeof(Bytes));
  const auto stream = device_.make_stream();
  const BoundLaunch good{.kernel = &add_one_, .inputs = {memory->start()}}, bad{.kernel = &fault_};
  stream->launch({&good, 1}, "before");
  stream->finish();
  stream->launch({&good, 1}, "micro_step");
  stream->launch({&bad, 1}, "update");
  stream->launch({&good, 1}, "micro_step");
  const auto event = stream->record();
  const std::string message =
      "the card failed after the launch of micro_step, update: what CUDA says "
      "(cudaErrorIllegalAddress); "
      "with CUDA_LAUNCH_BLOCKING=1 in the environment this message names the kernel";
  EXPECT_EQ(message_of([&] { stream->finish(); }), message);
  EXPECT_EQ(message_of([&] { event->finish(); }), message);
  EXPECT_EQ(message_of([&] { stream->launch({&good, 1}, "evaluate"); }), message);
  EXPECT_EQ(message_of([&] { device_.allocate(1); }),
            "CUDA, card 1: what CUDA says (cudaErrorIllegalAddress)");
}

TEST_F(CudaStreamTest, AnErrorOfALaunchNamesTheKernel) {
  const auto stream = device_.make_stream();
  class Refused final : public Kernel {
    void run(const KernelArguments&, Stream&) override {
      gpu::check_launch("gelu", cudaErrorInvalidConfiguration);
    }
  } refused;
  const BoundLaunch launch{.kernel = &refused};
  EXPECT_EQ(
      message_of([&] {
        stream->launch({&launch, 1}, "micro_step");
      }),
      "micro_step: the launch of gelu, or a kernel before it: what CUDA says (cudaErrorOther)");
}

}  // namespace
}  // namespace cloze::backend::cuda

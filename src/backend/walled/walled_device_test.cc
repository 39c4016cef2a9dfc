#include "backend/walled/walled_device.h"

#include <gtest/gtest.h>

#include <vector>

namespace cloze::backend::walled {
namespace {

// Adds 1 to each of four numbers.
class Increment final : public Kernel {
 public:
  void run(const KernelArguments& arguments, Stream&) override {
    for (int i = 0; i < 4; ++i) arguments.output<float>(0)[i] += 1.0f;
  }
};

std::vector<float> read(Stream& stream, const DeviceMemory& memory) {
  std::vector<float> values(4);
  stream.copy_out(memory.start(), std::as_writable_bytes(std::span(values)));
  return values;
}

TEST(WalledDevice, KernelsAndCopiesReachItsMemory) {
  const auto memory = device().allocate(4 * sizeof(float));
  const auto stream = device().make_stream();
  EXPECT_EQ(read(*stream, *memory), (std::vector<float>{0, 0, 0, 0}));
  const std::vector<float> values = {1, 2, 3, 4};
  stream->copy_in(memory->start(), std::as_bytes(std::span(values)));
  Increment kernel;
  const BoundLaunch launch{.kernel = &kernel, .outputs = {memory->start()}};
  stream->launch({&launch, 1}, "increment");
  EXPECT_EQ(read(*stream, *memory), (std::vector<float>{2, 3, 4, 5}));
  stream->fill_with_zeros(memory->start() + 4, 8);
  EXPECT_EQ(read(*stream, *memory), (std::vector<float>{2, 0, 0, 5}));
  stream->copy(memory->start() + 4, memory->start() + 12, 4);
  EXPECT_EQ(read(*stream, *memory), (std::vector<float>{2, 5, 0, 5}));
}

TEST(WalledDeviceDeathTest, TheHostDoesNot) {
  const auto memory = device().allocate(4 * sizeof(float));
  const auto stream = device().make_stream();
  const volatile float* const number = memory->start().as<float>();
  EXPECT_DEATH((void)*number, "");
  read(*stream, *memory);
  EXPECT_DEATH((void)*number, "") << "closed again";
}

}  // namespace
}  // namespace cloze::backend::walled

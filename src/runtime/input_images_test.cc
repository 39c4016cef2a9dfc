#include "runtime/input_images.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "backend/late/late_device.h"
#include "engine/devices.h"

namespace cloze::runtime {
namespace {

// Values in a device's memory, and what they should be.
class Inputs {
 public:
  Inputs(backend::Device& device, size_t bytes)
      : memory_(device.allocate(bytes)),
        stream_(device.make_stream()),
        images_(device, *stream_, memory_->start(), bytes),
        expected_(bytes) {}

  void write(size_t offset, const std::vector<std::byte>& values) {
    images_.write(static_cast<int64_t>(offset), values);
    std::ranges::copy(values, expected_.begin() + static_cast<int64_t>(offset));
  }
  void clear() {
    images_.clear();
    std::ranges::fill(expected_, std::byte{0});
  }
  // Sends, and keeps what the device then has: it is looked at when other values have been written.
  void send(backend::Device& device) {
    images_.send();
    sent_.push_back({expected_, device.allocate(expected_.size())});
    stream_->copy(sent_.back().memory->start(), memory_->start(), expected_.size());
  }
  void expect_sent() {
    for (const Sent& sent : sent_) {
      std::vector<std::byte> values(sent.expected.size());
      stream_->copy_out(sent.memory->start(), values);
      EXPECT_EQ(values, sent.expected);
    }
    sent_.clear();
  }

 private:
  struct Sent {
    std::vector<std::byte> expected;
    std::unique_ptr<backend::DeviceMemory> memory;
  };

  std::unique_ptr<backend::DeviceMemory> memory_;
  std::unique_ptr<backend::Stream> stream_;
  InputImages images_;
  std::vector<std::byte> expected_;
  std::vector<Sent> sent_;
};

void write_and_send_at_random(backend::Device& device, uint64_t seed) {
  constexpr size_t kBytes = 96;
  std::mt19937_64 random(seed);
  Inputs inputs(device, kBytes);
  for (int i = 0; i < 200; ++i) {
    for (uint64_t writes = random() % 4; writes > 0; --writes) {
      const size_t offset = random() % kBytes;
      std::vector<std::byte> values(random() % (kBytes - offset + 1));
      for (std::byte& value : values) value = static_cast<std::byte>(random());
      inputs.write(offset, values);
    }
    if (random() % 20 == 0) inputs.clear();
    inputs.send(device);
    if (random() % 10 == 0) inputs.expect_sent();
  }
  inputs.expect_sent();
}

TEST(InputImages, TheDeviceGetsWhatWasWrittenBeforeEachSending) {
  write_and_send_at_random(engine::device_named("cpu"), 0);
  write_and_send_at_random(engine::device_named("walled"), 0);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    write_and_send_at_random(backend::late::device(seed), seed);
  }
}

}  // namespace
}  // namespace cloze::runtime

#include "backend/host/host_device.h"

#include <chrono>
#include <cstring>
#include <utility>

#include "platform/memory.h"

namespace cloze::backend::host {
namespace {

using Clock = std::chrono::steady_clock;

class HostMemory final : public DeviceMemory {
 public:
  explicit HostMemory(platform::MemoryBlock block) : block_(std::move(block)) {}
  DeviceAddress start() const override { return DeviceAddress(block_.data()); }
  size_t bytes() const override { return block_.size(); }

 private:
  platform::MemoryBlock block_;
};

class HostBlockInMemory final : public HostBlock {
 public:
  explicit HostBlockInMemory(size_t bytes) : block_(bytes) {}
  std::span<std::byte> bytes() const override { return {block_.data(), block_.size()}; }

 private:
  platform::MemoryBlock block_;
};

struct HostEvent final : Event {
  void finish() const override {}
  Clock::time_point time = Clock::now();
};

Clock::time_point time_of(const Event& event) { return static_cast<const HostEvent&>(event).time; }

}  // namespace

void HostStream::copy_in(DeviceAddress target, std::span<const std::byte> source) {
  if (!source.empty()) std::memcpy(target.as<void>(), source.data(), source.size());
}

void HostStream::copy_out(DeviceAddress source, std::span<std::byte> target) {
  if (!target.empty()) std::memcpy(target.data(), source.as<void>(), target.size());
}

void HostStream::copy(DeviceAddress target, DeviceAddress source, size_t bytes) {
  if (bytes > 0) std::memcpy(target.as<void>(), source.as<void>(), bytes);
}

void HostStream::fill_with_zeros(DeviceAddress target, size_t bytes) {
  if (bytes > 0) std::memset(target.as<void>(), 0, bytes);
}

void HostStream::launch(std::span<const BoundLaunch> launches, std::string_view) {
  for (const BoundLaunch& launch : launches) launch.kernel->run(launch.arguments(), *this);
}

std::unique_ptr<Event> HostStream::record() { return std::make_unique<HostEvent>(); }

std::unique_ptr<DeviceMemory> HostDevice::allocate(size_t bytes) {
  return std::make_unique<HostMemory>(platform::MemoryBlock(bytes));
}

std::unique_ptr<HostBlock> HostDevice::allocate_host(size_t bytes) {
  return std::make_unique<HostBlockInMemory>(bytes);
}

std::unique_ptr<DeviceMemory> HostDevice::allocate_aside(size_t bytes,
                                                         const std::filesystem::path& folder) {
  return std::make_unique<HostMemory>(platform::MemoryBlock(bytes, folder));
}

double HostDevice::seconds_between(const Event& begin, const Event& end) {
  return std::chrono::duration<double>(time_of(end) - time_of(begin)).count();
}

}  // namespace cloze::backend::host

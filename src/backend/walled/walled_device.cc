#include "backend/walled/walled_device.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "backend/cpu/backend.h"
#include "backend/host/host_device.h"
#include "backend/renamed_backend.h"
#include "platform/memory.h"

namespace cloze::backend::walled {
namespace {

// All pages of the device, and how many kernels and copies are at work on them.
class Wall {
 public:
  void add(const platform::MemoryBlock& block) {
    const std::lock_guard lock(mutex_);
    blocks_.push_back(&block);
    block.set_accessible(num_working_ > 0);
  }
  void remove(const platform::MemoryBlock& block) {
    const std::lock_guard lock(mutex_);
    std::erase(blocks_, &block);
  }
  void enter() {
    const std::lock_guard lock(mutex_);
    if (num_working_++ == 0) set_accessible(true);
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    if (--num_working_ == 0) set_accessible(false);
  }

 private:
  void set_accessible(bool on) {
    for (const platform::MemoryBlock* block : blocks_) block->set_accessible(on);
  }

  std::mutex mutex_;
  std::vector<const platform::MemoryBlock*> blocks_;
  int num_working_ = 0;
};

class Opening {
 public:
  explicit Opening(Wall& wall) : wall_(wall) { wall_.enter(); }
  ~Opening() { wall_.leave(); }
  Opening(const Opening&) = delete;
  Opening& operator=(const Opening&) = delete;

 private:
  Wall& wall_;
};

class WalledMemory final : public DeviceMemory {
 public:
  WalledMemory(size_t bytes, Wall& wall) : block_(bytes), wall_(wall) { wall_.add(block_); }
  ~WalledMemory() override { wall_.remove(block_); }
  DeviceAddress start() const override { return DeviceAddress(block_.data()); }
  size_t bytes() const override { return block_.size(); }

 private:
  platform::MemoryBlock block_;
  Wall& wall_;
};

class WalledStream final : public Stream {
 public:
  explicit WalledStream(Wall& wall) : wall_(wall) {}
  void copy_in(DeviceAddress target, std::span<const std::byte> source) override {
    const Opening opening(wall_);
    host_.copy_in(target, source);
  }
  void copy_out(DeviceAddress source, std::span<std::byte> target) override {
    const Opening opening(wall_);
    host_.copy_out(source, target);
  }
  void copy(DeviceAddress target, DeviceAddress source, size_t bytes) override {
    const Opening opening(wall_);
    host_.copy(target, source, bytes);
  }
  void fill_with_zeros(DeviceAddress target, size_t bytes) override {
    const Opening opening(wall_);
    host_.fill_with_zeros(target, bytes);
  }
  void launch(std::span<const BoundLaunch> launches, std::string_view name) override {
    const Opening opening(wall_);
    host_.launch(launches, name);
  }
  std::unique_ptr<Event> record() override { return host_.record(); }
  void wait(const Event&) override {}
  void finish() override {}

 private:
  Wall& wall_;
  host::HostStream host_;
};

class WalledDevice final : public Device {
 public:
  const Backend& backend() const override { return backend_; }
  std::unique_ptr<DeviceMemory> allocate(size_t bytes) override {
    return std::make_unique<WalledMemory>(bytes, wall_);
  }
  std::unique_ptr<HostBlock> allocate_host(size_t bytes) override {
    return host_.allocate_host(bytes);
  }
  std::unique_ptr<Stream> make_stream() override { return std::make_unique<WalledStream>(wall_); }
  double seconds_between(const Event& begin, const Event& end) override {
    return host_.seconds_between(begin, end);
  }

 private:
  RenamedBackend backend_{"walled", cpu::backend()};
  host::HostDevice host_{backend_};
  Wall wall_;
};

}  // namespace

Device& device() {
  static WalledDevice instance;
  return instance;
}

}  // namespace cloze::backend::walled

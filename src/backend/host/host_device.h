// HostDevice: a device that is this machine's processor. Its memory is the host's, its work is done
// when the call returns.
#pragma once

#include <memory>

#include "backend/device.h"

namespace cloze::backend::host {

class HostStream final : public Stream {
 public:
  void copy_in(DeviceAddress target, std::span<const std::byte> source) override;
  void copy_out(DeviceAddress source, std::span<std::byte> target) override;
  void copy(DeviceAddress target, DeviceAddress source, size_t bytes) override;
  void fill_with_zeros(DeviceAddress target, size_t bytes) override;
  void launch(std::span<const BoundLaunch> launches, std::string_view name) override;
  std::unique_ptr<Event> record() override;
  void wait(const Event&) override {}
  void finish() override {}
};

class HostDevice final : public Device {
 public:
  // Runs the kernels of `backend`, which must outlive it.
  explicit HostDevice(const Backend& backend) : backend_(backend) {}

  const Backend& backend() const override { return backend_; }
  std::unique_ptr<DeviceMemory> allocate(size_t bytes) override;
  std::unique_ptr<DeviceMemory> allocate_aside(size_t bytes,
                                               const std::filesystem::path& folder) override;
  std::unique_ptr<HostBlock> allocate_host(size_t bytes) override;
  std::unique_ptr<Stream> make_stream() override { return std::make_unique<HostStream>(); }
  double seconds_between(const Event& begin, const Event& end) override;

 private:
  const Backend& backend_;
};

}  // namespace cloze::backend::host

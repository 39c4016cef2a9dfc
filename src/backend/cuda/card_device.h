// CardDevice: one card.
#pragma once

#include <memory>

#include "backend/device.h"

namespace cloze::backend::cuda {

class CardDevice final : public Device {
 public:
  // Runs the kernels of `backend`, which must outlive it, on the card of this number.
  CardDevice(const Backend& backend, int card) : backend_(backend), card_(card) {}

  const Backend& backend() const override { return backend_; }
  std::unique_ptr<DeviceMemory> allocate(size_t bytes) override;
  std::unique_ptr<HostBlock> allocate_host(size_t bytes) override;
  std::unique_ptr<Stream> make_stream() override;
  double seconds_between(const Event& begin, const Event& end) override;

 private:
  const Backend& backend_;
  int card_;
};

}  // namespace cloze::backend::cuda

// Images of an arena of inputs in the host's memory. The host writes values here, and before the
// next launches all that has changed goes to the device in one copy.
//
// There are two (kCount), in turn: the host writes one while the device may still copy the other.
// It waits only for the copy before the last.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "backend/device.h"

namespace cloze::runtime {

class InputImages {
 public:
  static constexpr int64_t kCount = 2;

  // Device and stream outlive it, and so does the memory at `target`, which is all zeros.
  InputImages(backend::Device& device, backend::Stream& stream, backend::DeviceAddress target,
              size_t bytes);

  void write(int64_t offset, std::span<const std::byte> values);
  void clear();  // everything is zero
  // In the order of the stream. Nothing to do when nothing has changed.
  void send();

 private:
  // Bytes [begin, end); empty at first.
  struct Range {
    size_t begin = SIZE_MAX, end = 0;
    bool is_empty() const { return begin >= end; }
    size_t size() const { return end - begin; }
    void add(size_t first, size_t last);
  };
  struct Image {
    std::unique_ptr<backend::HostBlock> block;
    std::unique_ptr<backend::Event> sent;  // the end of its last copy; null: there was none
  };

  std::span<std::byte> writable();
  std::span<std::byte> bytes_of(const Image& image, const Range& range) const;

  backend::Stream& stream_;
  backend::DeviceAddress target_;
  std::array<Image, kCount> images_;
  size_t current_ = 0;
  Range missing_;  // in the current image: sent from the other
  Range changed_;  // in the current image, since the last copy
};

}  // namespace cloze::runtime

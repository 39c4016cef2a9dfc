#include "runtime/input_images.h"

#include <algorithm>
#include <utility>

namespace cloze::runtime {

void InputImages::Range::add(size_t first, size_t last) {
  begin = std::min(begin, first);
  end = std::max(end, last);
}

InputImages::InputImages(backend::Device& device, backend::Stream& stream,
                         backend::DeviceAddress target, size_t bytes)
    : stream_(stream), target_(target) {
  for (Image& image : images_) image.block = device.allocate_host(bytes);
}

void InputImages::write(int64_t offset, std::span<const std::byte> values) {
  const auto begin = static_cast<size_t>(offset);
  std::ranges::copy(values, writable().begin() + offset);
  changed_.add(begin, begin + values.size());
}

void InputImages::clear() {
  const std::span<std::byte> bytes = writable();
  std::ranges::fill(bytes, std::byte{0});
  changed_.add(0, bytes.size());
}

void InputImages::send() {
  if (changed_.is_empty()) return;
  Image& image = images_[current_];
  stream_.begin_copy_in(target_ + static_cast<int64_t>(changed_.begin), bytes_of(image, changed_));
  image.sent = stream_.record();
  missing_ = std::exchange(changed_, {});
  current_ = 1 - current_;
}

// The current image, once nothing reads it and it has what went out from the other.
std::span<std::byte> InputImages::writable() {
  Image& image = images_[current_];
  if (image.sent) image.sent->finish();
  image.sent.reset();
  const Range missing = std::exchange(missing_, {});
  if (!missing.is_empty()) {
    std::ranges::copy(bytes_of(images_[1 - current_], missing), bytes_of(image, missing).begin());
  }
  return image.block->bytes();
}

std::span<std::byte> InputImages::bytes_of(const Image& image, const Range& range) const {
  return image.block->bytes().subspan(range.begin, range.size());
}

}  // namespace cloze::runtime

// Device: where a program runs. Its memory belongs to its kernels: all other code copies in and
// out, in the order of a stream.
//
//   auto memory = device.allocate(bytes);            zeros
//   auto stream = device.make_stream();
//   stream->copy_in(memory->start(), values);
//   stream->launch(kernel, {inputs, outputs, workspace});
//   stream->copy_out(memory->start(), results);      waits for the kernel
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "backend/kernel.h"
#include "base/error.h"

namespace cloze::backend {

// Freed with the object.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  virtual DeviceAddress start() const = 0;  // 64-byte aligned
  virtual size_t bytes() const = 0;
};

// A point in a stream.
class Event {
 public:
  virtual ~Event() = default;
};

// Work that runs in the order in which it was given. Only one thread uses a stream.
class Stream {
 public:
  virtual ~Stream() = default;
  // The source may change as soon as this returns.
  virtual void copy_in(DeviceAddress target, std::span<const std::byte> source) = 0;
  // The target holds the values when this returns.
  virtual void copy_out(DeviceAddress source, std::span<std::byte> target) = 0;
  // Within the device; the two do not overlap.
  virtual void copy(DeviceAddress target, DeviceAddress source, size_t bytes) = 0;
  virtual void fill_with_zeros(DeviceAddress target, size_t bytes) = 0;
  // May return before the kernel is done.
  virtual void launch(Kernel& kernel, const KernelArguments& arguments) = 0;
  virtual std::unique_ptr<Event> record() = 0;  // the moment when all work so far is done
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const Backend& backend() const = 0;
  std::string_view name() const { return backend().name(); }
  // Zeroed. When memory runs out: EnvironmentError that says how many bytes were wanted.
  virtual std::unique_ptr<DeviceMemory> allocate(size_t bytes) = 0;
  // Allocates outside the device's memory, for large data that is seldom used. A device that is the
  // host's processor uses a file in this folder. EnvironmentError when there is no room; UserError
  // when the device has only its own memory.
  virtual std::unique_ptr<DeviceMemory> allocate_aside(size_t bytes,
                                                       const std::filesystem::path& folder) {
    throw_user_error("device {} keeps {} bytes in its own memory only, not in {}", name(), bytes,
                     folder.string());
  }
  virtual std::unique_ptr<Stream> make_stream() = 0;
  // Waits for both.
  virtual double seconds_between(const Event& begin, const Event& end) = 0;
};

}  // namespace cloze::backend

// Device: where a program runs. Its memory belongs to its kernels: all other code copies in and
// out, in the order of a stream.
//
//   auto memory = device.allocate(bytes);            zeros
//   auto stream = device.make_stream();
//   stream->copy_in(memory->start(), values);
//   stream->launch(launches, "micro_step");
//   stream->copy_out(memory->start(), results);      waits for the launches
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "backend/kernel.h"
#include "base/error.h"

namespace cloze::backend {

// Freed with the object, once no work of the device is under way.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  virtual DeviceAddress start() const = 0;  // aligned as the backend says
  virtual size_t bytes() const = 0;
};

// Memory of the host that a stream copies from and to while the host goes on. Zeroed.
class HostBlock {
 public:
  virtual ~HostBlock() = default;
  virtual std::span<std::byte> bytes() const = 0;
};

// A point in a stream.
class Event {
 public:
  virtual ~Event() = default;
  // Returns when all work before it is done.
  virtual void finish() const = 0;
};

// A kernel and the addresses of one call.
struct BoundLaunch {
  Kernel* kernel = nullptr;
  std::vector<DeviceAddress> inputs = {};
  std::vector<DeviceAddress> outputs = {};
  DeviceAddress workspace = {};

  KernelArguments arguments() const { return {inputs, outputs, workspace}; }
};

// Work that runs in the order in which it was given, and may run later than the call that gave it.
// Streams of one device run beside each other; only wait() orders their work. Only one thread uses
// a stream. A stream may end before its work is done.
//
// Errors: a device finds some of them late. finish(), Event::finish() and copy_out() then throw
// EnvironmentError, or a kernel's InternalError, and name the launches in which it happened. All
// work after it in the stream is left out.
class Stream {
 public:
  virtual ~Stream() = default;
  // The source may change as soon as this returns.
  virtual void copy_in(DeviceAddress target, std::span<const std::byte> source) = 0;
  // The target holds the values when this returns.
  virtual void copy_out(DeviceAddress source, std::span<std::byte> target) = 0;
  // The source lies in a HostBlock and must not change until the copy is done: a device may begin
  // it and return.
  virtual void begin_copy_in(DeviceAddress target, std::span<const std::byte> source) {
    copy_in(target, source);
  }
  // The target lies in a HostBlock, and has the values when the copy is done: a device may begin it
  // and return.
  virtual void begin_copy_out(DeviceAddress source, std::span<std::byte> target) {
    copy_out(source, target);
  }
  // Within the device; the two do not overlap.
  virtual void copy(DeviceAddress target, DeviceAddress source, size_t bytes) = 0;
  virtual void fill_with_zeros(DeviceAddress target, size_t bytes) = 0;
  // One after the other. They stay as they are, where they are, until they are done: a device may
  // record them and replay the same span. `name` is for messages.
  virtual void launch(std::span<const BoundLaunch> launches, std::string_view name) = 0;
  virtual std::unique_ptr<Event> record() = 0;  // the moment when all work so far is done
  // The work given from now on begins after the event, which may be another stream's of the device.
  virtual void wait(const Event& event) = 0;
  // Returns when all work so far is done.
  virtual void finish() = 0;
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
  virtual std::unique_ptr<HostBlock> allocate_host(size_t bytes) = 0;
  virtual std::unique_ptr<Stream> make_stream() = 0;
  // Waits for both.
  virtual double seconds_between(const Event& begin, const Event& end) = 0;
};

}  // namespace cloze::backend

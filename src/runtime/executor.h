// Executor: the memory of a program on a device, and the loop that launches its kernels.
//
// Has one block of device memory per arena, zeroed at the start; some may be shared, so that
// several executors infer with one copy of the weights. Nothing is allocated after construction.
// Values go in and come out by copy. One thread calls it; kernels use threads inside.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backend/device.h"
#include "plan/program.h"
#include "runtime/input_images.h"
#include "runtime/non_finite.h"

namespace cloze::runtime {

// The memory of the host's images of a program's inputs (input_images.h).
int64_t input_image_bytes(const plan::Program& program);

// One call of a launch while profiling was on.
struct LaunchSpan {
  const plan::Program* program = nullptr;  // lives as long as the executor that ran it
  size_t phase = 0;                        // of the program's phases
  size_t launch = 0;                       // of the phase's launches
  double begin = 0.0;                      // seconds since profiling was turned on
  double seconds = 0.0;                    // that it took
};

// Time spent in one launch, over all its spans.
struct LaunchProfile {
  std::string_view name;  // module and operator
  std::string_view op;    // operator
  std::string_view kernel_name;
  double flops = 0.0;    // useful operations of one call
  double seconds = 0.0;  // total
  int64_t calls = 0;
};

// Memory of one device that several executors share, and the stream that orders their work on it.
// An executor allocates the arenas that are missing here, and its own activations or workspace
// where these are too small for it; all others have exactly its arenas' sizes. Executors with one
// stream run on one thread, one at a time; when they share activations, the results of a run are
// valid only until the next run of any of them. Executors with streams of their own may share only
// parameters, which they only read, and whose values were finished before.
using Arenas = std::map<plan::Arena, std::shared_ptr<const backend::DeviceMemory>>;
struct SharedMemory {
  std::shared_ptr<backend::Stream> stream;
  Arenas arenas = {};
};

class Executor {
 public:
  // With memory and a stream of its own.
  Executor(plan::Program program, backend::Device& device);
  Executor(plan::Program program, backend::Device& device, SharedMemory shared);
  // Waits for its work.
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // InternalError for a phase that the graph lacks, and for launches that read an input that nobody
  // has written yet.
  void run(std::string_view phase);
  // Its launches [begin, end) alone: a phase may be run in parts, in their order.
  void run_part(std::string_view phase, size_t begin, size_t end);
  size_t num_launches(std::string_view phase) const;
  // The same, looking at what each launch writes: stops after the first that writes a number that
  // is not finite.
  std::optional<NonFiniteOutput> run_until_non_finite(std::string_view phase);
  // Returns when all work so far is done; throws what the device found wrong (backend/device.h).
  void finish() { stream_->finish(); }

  // A whole value, row-major. Inputs and variables at any time; outputs may be read until the next
  // run. InternalError when the sizes differ.
  void write(graph::Value value, std::span<const std::byte> bytes);
  void read(graph::Value value, std::span<std::byte> bytes);
  // The same for the part that begins at `offset`, in bytes.
  void read_part(graph::Value value, int64_t offset, std::span<std::byte> bytes);
  void write_part(graph::Value value, int64_t offset, std::span<const std::byte> bytes);
  // The first element that is not finite; looks at a little of it at a time.
  std::optional<NonFiniteElement> find_non_finite(graph::Value value);
  // Sets the whole arena, or one value, to zero; inputs of the arena then count as written.
  void clear(plan::Arena arena);
  void clear(graph::Value value);
  // A whole arena, but not that of the inputs. InternalError when the sizes differ.
  void read(plan::Arena arena, std::span<std::byte> bytes);
  void write(plan::Arena arena, std::span<const std::byte> bytes);
  // The same into a HostBlock, which has the values when the event has come.
  std::unique_ptr<backend::Event> begin_read(plan::Arena arena, std::span<std::byte> block);
  // The stream, and all memory but the inputs: for an executor of the same graph with other slots.
  SharedMemory memory_beside_inputs() const;
  // Without the activations, too: for one that has another micro-batch at the same time.
  SharedMemory memory_beside_a_batch() const;

  const plan::Program& program() const { return program_; }
  const graph::Graph& graph() const { return program_.graph; }
  backend::Device& device() const { return device_; }

  // Profiling is off by default. It costs two events and the memory of one span per launch. Turning
  // it on discards earlier spans. profile() covers the program of this executor only.
  void set_profiling(bool on);
  const std::vector<LaunchSpan>& spans() const { return spans_; }
  // `recorder`, which must outlive this one, also records its spans, when its own profiling is on.
  void record_spans_in(Executor& recorder) { recorder_ = &recorder; }
  std::vector<LaunchProfile> profile() const;

 private:
  struct HostInput {  // that a launch reads and the host has to write before
    size_t launch = 0;
    graph::Value value;
  };
  struct Phase {
    std::string_view name;
    std::vector<backend::BoundLaunch> launches;
    std::vector<HostInput> inputs;  // by launch
    size_t written_inputs = 0;      // the first so many of them are known to be written
  };

  void place_arenas(Arenas shared);
  void bind();
  backend::DeviceAddress address(const plan::Location& location) const;
  backend::DeviceAddress address(graph::Value value) const;
  backend::DeviceAddress start_of(plan::Arena arena, size_t bytes) const;
  Phase& phase_named(std::string_view name);
  const Phase& phase_named(std::string_view name) const;
  const plan::Location& location_of(graph::Value value) const {
    return program_.locations[static_cast<size_t>(value.index)];
  }
  bool is_in_image(graph::Value value) const;
  void require_inputs(std::string_view name, size_t end);
  Executor& profiled() { return recorder_ != nullptr ? recorder_->profiled() : *this; }
  void run_and_time(const Phase& phase, size_t begin, size_t end);
  std::optional<NonFiniteOutput> find_non_finite_output(const graph::Node& node);

  plan::Program program_;
  backend::Device& device_;
  std::shared_ptr<backend::Stream> stream_;
  std::array<std::shared_ptr<const backend::DeviceMemory>, plan::kNumArenas> arenas_;
  std::optional<InputImages> inputs_;                // made with the arenas
  std::vector<Phase> phases_;                        // as graph().phases()
  std::vector<bool> is_written_;                     // by value: an input the host has written
  std::unique_ptr<backend::Event> profiling_began_;  // null: it is off
  std::vector<LaunchSpan> spans_;
  Executor* recorder_ = nullptr;  // it has the spans of both
};

}  // namespace cloze::runtime

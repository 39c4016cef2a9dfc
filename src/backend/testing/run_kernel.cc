#include "backend/testing/run_kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "backend/host/host_device.h"
#include "backend/host/host_target.h"
#include "backend/reference/backend.h"
#include "backend/testing/guarded_buffer.h"
#include "base/division.h"
#include "base/error.h"

namespace cloze::backend::testing {
namespace {

Device* g_device = nullptr;

bool accumulates(const KernelRequest& request, size_t output) {
  return output < request.accumulates.size() && request.accumulates[output];
}

bool is_mutated(const KernelRequest& request, size_t input) {
  return std::ranges::count(request.op->mutated_inputs, static_cast<int>(input)) > 0;
}

std::vector<GuardedBuffer> make_buffers(const std::vector<graph::TensorType>& types) {
  std::vector<GuardedBuffer> buffers;
  for (const graph::TensorType& type : types) {
    buffers.emplace_back(static_cast<size_t>(type.bytes()));
  }
  return buffers;
}

std::vector<DeviceAddress> addresses(std::vector<GuardedBuffer>& buffers) {
  std::vector<DeviceAddress> result;
  for (GuardedBuffer& buffer : buffers) result.emplace_back(buffer.data());
  return result;
}

// All memory of one call.
struct Memory {
  std::vector<GuardedBuffer> inputs, pristine_inputs, outputs;
  GuardedBuffer workspace;

  std::vector<GuardedBuffer*> all() {
    std::vector<GuardedBuffer*> all{&workspace};
    for (GuardedBuffer& buffer : inputs) all.push_back(&buffer);
    for (GuardedBuffer& buffer : outputs) all.push_back(&buffer);
    return all;
  }
};

Memory make_memory(const Kernel& kernel, const KernelRequest& request,
                   const std::vector<Tensor>& inputs, const std::vector<Tensor>& initial_outputs) {
  Memory memory{make_buffers(request.inputs), make_buffers(request.inputs),
                make_buffers(request.outputs),
                GuardedBuffer(kernel.workspace_bytes(), GuardedBuffer::kWide)};
  for (size_t i = 0; i < inputs.size(); ++i) {
    write_bytes(inputs[i], memory.inputs[i].data());
    write_bytes(inputs[i], memory.pristine_inputs[i].data());
  }
  for (size_t i = 0; i < request.outputs.size(); ++i) {
    if (accumulates(request, i)) write_bytes(initial_outputs[i], memory.outputs[i].data());
  }
  return memory;
}

std::vector<std::string> violations(const KernelRequest& request, const Memory& memory) {
  std::vector<std::string> found;
  for (size_t i = 0; i < memory.inputs.size(); ++i) {
    if (!memory.inputs[i].guards_are_intact()) {
      found.push_back(fmt::format("bytes beside input {} overwritten", i));
    }
    if (!is_mutated(request, i) && !memory.inputs[i].same_bytes(memory.pristine_inputs[i])) {
      found.push_back(fmt::format("input {} overwritten", i));
    }
  }
  for (size_t i = 0; i < memory.outputs.size(); ++i) {
    if (!memory.outputs[i].guards_are_intact()) {
      found.push_back(fmt::format("bytes beside output {} overwritten", i));
    }
  }
  if (!memory.workspace.guards_are_intact()) found.push_back("bytes beside workspace overwritten");
  return found;
}

void append_result(KernelOutcome& outcome, const graph::TensorType& type,
                   const GuardedBuffer& buffer) {
  outcome.results.push_back(read_bytes(type, buffer.data()));
  outcome.results_bytes.emplace_back(static_cast<const char*>(buffer.data()), buffer.bytes());
}

// Copies of buffers in a device's memory, in one block.
class DeviceCopies {
 public:
  DeviceCopies(Device& device, Stream& stream, std::vector<GuardedBuffer*> buffers)
      : stream_(stream), buffers_(std::move(buffers)) {
    size_t end = 0;
    for (GuardedBuffer* buffer : buffers_) {
      const size_t data = round_up(end + buffer->guard_bytes(), kAlignment);
      data_.push_back(data);
      end = data + buffer->bytes() + buffer->guard_bytes();
    }
    memory_ = device.allocate(end);
    for (size_t i = 0; i < buffers_.size(); ++i) stream.copy_in(begin(i), buffers_[i]->guarded());
  }

  DeviceAddress data(size_t i) const { return memory_->start() + static_cast<int64_t>(data_[i]); }
  void take_back() {
    for (size_t i = 0; i < buffers_.size(); ++i) stream_.copy_out(begin(i), buffers_[i]->guarded());
  }

 private:
  static constexpr size_t kAlignment = 256;

  DeviceAddress begin(size_t i) const {
    return memory_->start() + static_cast<int64_t>(data_[i] - buffers_[i]->guard_bytes());
  }

  Stream& stream_;
  std::vector<GuardedBuffer*> buffers_;
  std::vector<size_t> data_;  // where the data of each begins
  std::unique_ptr<DeviceMemory> memory_;
};

void run_on_host(Kernel& kernel, Memory& memory) {
  const std::vector<DeviceAddress> inputs = addresses(memory.inputs);
  const std::vector<DeviceAddress> outputs = addresses(memory.outputs);
  host::HostStream stream;
  kernel.run({inputs, outputs, DeviceAddress(memory.workspace.data())}, stream);
}

void run_on_device(Kernel& kernel, Memory& memory, Device& device) {
  const std::unique_ptr<Stream> stream = device.make_stream();
  DeviceCopies copies(device, *stream, memory.all());
  BoundLaunch launch{.kernel = &kernel, .workspace = copies.data(0)};
  size_t next = 1;
  for (size_t i = 0; i < memory.inputs.size(); ++i) launch.inputs.push_back(copies.data(next++));
  for (size_t i = 0; i < memory.outputs.size(); ++i) launch.outputs.push_back(copies.data(next++));
  stream->launch(std::span(&launch, 1), "a tested kernel");
  copies.take_back();
}

KernelOutcome run_in(Device* device, Kernel& kernel, const KernelRequest& request,
                     const std::vector<Tensor>& inputs,
                     const std::vector<Tensor>& initial_outputs) {
  CLOZE_CHECK(inputs.size() == request.inputs.size(), "{}: {} inputs given, {} in the request",
              request.op->name, inputs.size(), request.inputs.size());
  Memory memory = make_memory(kernel, request, inputs, initial_outputs);
  if (device != nullptr) {
    run_on_device(kernel, memory, *device);
  } else {
    run_on_host(kernel, memory);
  }
  KernelOutcome outcome;
  outcome.violations = violations(request, memory);
  for (size_t i = 0; i < request.outputs.size(); ++i) {
    append_result(outcome, request.outputs[i], memory.outputs[i]);
  }
  for (const int i : request.op->mutated_inputs) {
    append_result(outcome, request.inputs[i], memory.inputs[i]);
  }
  return outcome;
}

}  // namespace

void set_device(Device* device) { g_device = device; }

std::shared_ptr<const Target> make_target(const TargetOptions& options) {
  if (g_device != nullptr) return g_device->backend().target(options);
  return std::make_shared<host::HostTarget>(options);
}

KernelOutcome run_kernel(Kernel& kernel, const KernelRequest& request,
                         const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& initial_outputs) {
  return run_in(g_device, kernel, request, inputs, initial_outputs);
}

std::vector<graph::TensorType> result_types(const KernelRequest& request) {
  std::vector<graph::TensorType> types = request.outputs;
  for (const int i : request.op->mutated_inputs) types.push_back(request.inputs[i]);
  return types;
}

KernelRequest in_double(KernelRequest request) {
  for (graph::TensorType& type : request.inputs) type = in_double(type);
  for (graph::TensorType& type : request.outputs) type = in_double(type);
  return request;
}

std::vector<Tensor> run_reference_in_double(const KernelRequest& request,
                                            const std::vector<Tensor>& inputs,
                                            const std::vector<Tensor>& initial_outputs) {
  const KernelRequest exact = in_double(request);
  const auto entries = reference::backend().kernels(*request.op);
  CLOZE_CHECK(!entries.empty(), "{} has no reference kernel", request.op->name);
  std::vector<Tensor> exact_inputs, exact_outputs;
  for (const Tensor& tensor : inputs) exact_inputs.push_back(in_double(tensor));
  for (const Tensor& tensor : initial_outputs) exact_outputs.push_back(in_double(tensor));
  const std::unique_ptr<Kernel> kernel = entries.front().create(exact);
  return run_in(nullptr, *kernel, exact, exact_inputs, exact_outputs).results;
}

std::vector<Tensor> apply_in_double(const graph::OpDefinition& op, const std::any& attributes,
                                    const std::vector<Tensor>& inputs) {
  KernelRequest request{.op = &op, .attributes = attributes};
  for (const Tensor& tensor : inputs) request.inputs.push_back(tensor.type);
  request.outputs = graph::infer_types(op, request.inputs, attributes);
  std::vector<Tensor> results = run_reference_in_double(request, inputs, {});
  const std::vector<graph::TensorType> types = result_types(request);
  for (size_t i = 0; i < results.size(); ++i) results[i].type = types[i];
  return results;
}

}  // namespace cloze::backend::testing

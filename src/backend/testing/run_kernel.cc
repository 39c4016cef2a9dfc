#include "backend/testing/run_kernel.h"

#include <fmt/format.h>

#include <algorithm>

#include "backend/host/host_device.h"
#include "backend/reference/backend.h"
#include "backend/testing/guarded_buffer.h"
#include "base/error.h"

namespace cloze::backend::testing {
namespace {

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

}  // namespace

KernelOutcome run_kernel(Kernel& kernel, const KernelRequest& request,
                         const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& initial_outputs) {
  CLOZE_CHECK(inputs.size() == request.inputs.size(), "{}: {} inputs given, {} in the request",
              request.op->name, inputs.size(), request.inputs.size());
  Memory memory = make_memory(kernel, request, inputs, initial_outputs);
  const std::vector<DeviceAddress> input_addresses = addresses(memory.inputs);
  const std::vector<DeviceAddress> output_addresses = addresses(memory.outputs);
  host::HostStream stream;
  kernel.run({.inputs = input_addresses,
              .outputs = output_addresses,
              .workspace = DeviceAddress(memory.workspace.data())},
             stream);

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
  return run_kernel(*kernel, exact, exact_inputs, exact_outputs).results;
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

#include "inference/weight_making.h"

#include <span>
#include <unordered_map>

#include "base/error.h"
#include "plan/kernel_choice.h"
#include "platform/memory.h"

namespace cloze::inference {
namespace {

using backend::DeviceAddress;
using backend::DeviceMemory;
using graph::Graph;
using graph::Node;
using graph::Value;
using graph::ValueInfo;
using graph::VariableRole;

// The nodes that make packed weights, by the weight.
std::unordered_map<int32_t, const Node*> packing_nodes(const Graph& model) {
  std::unordered_map<int32_t, const Node*> nodes;
  const auto refresh = model.find_phase(graph::kRefresh);
  for (const Node& node : model.nodes()) {
    if (node.phase == refresh) nodes.emplace(node.outputs[0].index, &node);
  }
  return nodes;
}

class WeightMaker {
 public:
  WeightMaker(const Graph& model, const plan::Program& program, const ReadParameter& read,
              backend::Device& device, const backend::TargetOptions& options)
      : model_(model),
        program_(program),
        read_(read),
        device_(device),
        target_(device.backend().target(options)),
        stream_(device.make_stream()),
        packing_nodes_(packing_nodes(model)),
        values_(static_cast<size_t>(model.largest_bytes(VariableRole::kParameter))),
        parameter_(
            device.allocate(static_cast<size_t>(model.largest_bytes(VariableRole::kParameter)))),
        weights_(device.allocate(static_cast<size_t>(program.bytes_of(plan::Arena::kParameters)))) {
  }

  std::shared_ptr<const DeviceMemory> make() && {
    for (const Value weight : program_.graph.variables(VariableRole::kParameter)) {
      const std::string& name = program_.graph.info(weight).name;
      const auto value = model_.find(name);
      CLOZE_CHECK(value.has_value(), "{} is no weight of the model", name);
      const plan::Location& place = program_.locations[static_cast<size_t>(weight.index)];
      make(*value, weights_->start() + place.offset);
    }
    stream_->finish();
    return std::move(weights_);
  }

 private:
  void make(Value value, DeviceAddress target) {
    const auto packing = packing_nodes_.find(value.index);
    if (packing == packing_nodes_.end()) {
      stream_->copy_in(target, values_of(model_.info(value)));
      return;
    }
    const Node& node = *packing->second;
    stream_->copy_in(parameter_->start(), values_of(model_.info(node.inputs[0])));
    pack(node, target);
  }

  std::span<const std::byte> values_of(const ValueInfo& parameter) {
    CLOZE_CHECK(parameter.type.dtype == DType::kF32, "{} is not in f32", parameter.name);
    const auto elements = static_cast<size_t>(parameter.type.shape.elements());
    const std::span values(reinterpret_cast<float*>(values_.data()), elements);
    read_(parameter, values);
    return std::as_bytes(values);
  }

  void pack(const Node& node, DeviceAddress packed) {
    const auto kernel =
        plan::choose_kernel(device_.backend(), plan::request_of(model_, node, target_)).kernel;
    const auto workspace = device_.allocate(kernel->workspace_bytes());
    const backend::BoundLaunch launch{.kernel = kernel.get(),
                                      .inputs = {parameter_->start()},
                                      .outputs = {packed},
                                      .workspace = workspace->start()};
    stream_->launch({&launch, 1}, node.name());
    stream_->finish();
  }

  const Graph& model_;
  const plan::Program& program_;
  const ReadParameter& read_;
  backend::Device& device_;
  const std::shared_ptr<const backend::Target> target_;
  std::unique_ptr<backend::Stream> stream_;
  std::unordered_map<int32_t, const Node*> packing_nodes_;
  platform::MemoryBlock values_;  // of one parameter; the allocator would keep a vector's memory
  std::unique_ptr<DeviceMemory> parameter_;  // what is packed
  std::unique_ptr<DeviceMemory> weights_;
};

}  // namespace

std::shared_ptr<const DeviceMemory> make_weights(const Graph& model, const plan::Program& program,
                                                 const ReadParameter& read, backend::Device& device,
                                                 const backend::TargetOptions& options) {
  return WeightMaker(model, program, read, device, options).make();
}

}  // namespace cloze::inference

#include "inference/weight_making.h"

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "engine/backends.h"
#include "engine/session.h"
#include "inference/inference_graph.h"
#include "plan/kernel_choice.h"
#include "platform/memory.h"

namespace cloze::inference {
namespace {

using graph::Graph;
using graph::Node;
using graph::Value;

// The nodes that make packed weights, by the weight.
std::unordered_map<int32_t, const Node*> packing_nodes(const Graph& model) {
  std::unordered_map<int32_t, const Node*> nodes;
  for (const Node& node : model.nodes()) {
    if (node.phase == graph::Phase::kRefresh) nodes.emplace(node.outputs[0].index, &node);
  }
  return nodes;
}

void pack(const Graph& model, const Node& node, std::span<const float> values, std::byte* packed) {
  const int threads = engine::resolved_threads(0);
  const auto kernel =
      plan::choose_kernel(engine::backend_named(kBackend), plan::request_of(model, node, threads))
          .kernel;
  const platform::MemoryBlock workspace(kernel->workspace_bytes());
  void* const inputs[] = {const_cast<float*>(values.data())};  // kernels only read inputs
  void* const outputs[] = {packed};
  kernel->run({.inputs = inputs, .outputs = outputs, .workspace = workspace.data()});
}

}  // namespace

void make_weights(const Graph& model, const plan::Program& program,
                  const ParameterValues& values_of, std::span<std::byte> weights) {
  const auto nodes = packing_nodes(model);
  for (const Value weight : program.graph.variables(graph::VariableRole::kParameter)) {
    const std::string& name = program.graph.info(weight).name;
    const auto value = model.find(name);
    CLOZE_CHECK(value.has_value(), "{} is no weight of the model", name);
    std::byte* const target = weights.data() + program.locations[weight.index].offset;
    if (const auto found = nodes.find(value->index); found != nodes.end()) {
      const Node& node = *found->second;
      pack(model, node, values_of(model.info(node.inputs[0])), target);
    } else {
      std::ranges::copy(std::as_bytes(values_of(model.info(*value))), target);
    }
  }
}

}  // namespace cloze::inference

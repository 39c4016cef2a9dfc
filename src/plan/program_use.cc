#include "plan/program_use.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "ops/embedding.h"
#include "ops/gather_rows.h"
#include "plan/lifetimes.h"

namespace cloze::plan {
namespace {

using graph::Graph;
using graph::Node;
using graph::Phase;
using graph::TensorType;
using graph::Value;
using graph::ValueInfo;
using graph::ValueKind;

bool picks_rows(const Node& node) {
  return node.op == &ops::kEmbedding || node.op == &ops::kGatherRows;
}

// The bytes of the rows picked from a table: as many elements as `rows` has, in the table's dtype.
int64_t bytes_of_rows(const TensorType& table, const TensorType& rows) {
  return std::min(table.bytes(), rows.shape.elements() * bytes_of(table.dtype));
}

void count_traffic(const Graph& graph, const Node& node, LaunchUse& use) {
  for (const Value input : node.inputs) {
    const TensorType& type = graph.type(input);
    use.bytes_read +=
        picks_rows(node) ? bytes_of_rows(type, graph.type(node.outputs[0])) : type.bytes();
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const TensorType& type = graph.type(node.outputs[i]);
    int64_t bytes = type.bytes();
    if (node.accumulates[i]) {
      // Gradients of tables are added to the rows that were read.
      if (node.op == &ops::kEmbeddingGradient) {
        bytes = bytes_of_rows(type, graph.type(node.inputs[ops::EmbeddingGradient::kDy]));
      }
      use.bytes_read += bytes;
    }
    use.bytes_written += bytes;
  }
  for (const int input : node.op->mutated_inputs) {
    use.bytes_written += graph.type(node.inputs[input]).bytes();
  }
}

// The use of memory in one phase.
class PhaseUse {
 public:
  PhaseUse(const Program& program, Phase phase)
      : program_(program), phase_(phase), alive_(lifetimes_of(program.graph, phase)) {
    for (const Node& node : program.graph.nodes()) {
      if (node.phase == phase) nodes_.push_back(&node);
      num_layers_ = std::max(num_layers_, node.layer + 1);
    }
  }

  std::vector<LaunchUse> launches() const {
    std::vector<LaunchUse> uses;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const Launch& launch = program_.phases[static_cast<size_t>(phase_.index)][i];
      LaunchUse& use = uses.emplace_back();
      use.node = nodes_[i];
      use.launch = &launch;
      use.workspace_bytes = static_cast<int64_t>(launch.kernel->workspace_bytes());
      use.activation_bytes.resize(static_cast<size_t>(num_layers_) + 1);
      count_traffic(program_.graph, *nodes_[i], use);
    }
    for (size_t value = 0; value < alive_.size(); ++value) {
      if (!alive_[value]) continue;
      const Lifetime& life = *alive_[value];
      const int32_t layer = nodes_[static_cast<size_t>(life.first)]->layer;
      const auto last = std::min<int64_t>(life.last, std::ssize(uses) - 1);
      for (int64_t i = life.first; i <= last; ++i) {
        uses[static_cast<size_t>(i)].activation_bytes[static_cast<size_t>(layer + 1)] +=
            program_.aligned(life.bytes);
      }
    }
    return uses;
  }

  std::vector<Value> alive_at(int64_t launch) const {
    std::vector<Value> values;
    for (size_t value = 0; value < alive_.size(); ++value) {
      if (!alive_[value] || alive_[value]->first > launch || alive_[value]->last < launch) continue;
      values.push_back({static_cast<int32_t>(value)});
    }
    std::ranges::stable_sort(values, std::greater<>(),
                             [&](Value value) { return program_.graph.type(value).bytes(); });
    return values;
  }

 private:
  const Program& program_;
  Phase phase_;
  std::vector<std::optional<Lifetime>> alive_;
  std::vector<const Node*> nodes_;
  int32_t num_layers_ = 0;
};

}  // namespace

int64_t LaunchUse::temporary_bytes() const {
  return std::accumulate(activation_bytes.begin(), activation_bytes.end(), workspace_bytes);
}

ProgramUse use_of(const Program& program) {
  ProgramUse all;
  all.always_bytes = program.total_bytes() - program.bytes_of(Arena::kActivations) -
                     program.bytes_of(Arena::kWorkspace);
  int64_t most = -1;
  for (int32_t index = 0; index < static_cast<int32_t>(program.phases.size()); ++index) {
    const PhaseUse phase(program, {index});
    std::vector<LaunchUse> uses = phase.launches();
    for (size_t i = 0; i < uses.size(); ++i) {
      if (uses[i].temporary_bytes() <= most) continue;
      most = uses[i].temporary_bytes();
      all.peak = all.launches.size() + i;
      all.alive_at_peak = phase.alive_at(static_cast<int64_t>(i));
    }
    std::ranges::move(uses, std::back_inserter(all.launches));
  }
  return all;
}

}  // namespace cloze::plan

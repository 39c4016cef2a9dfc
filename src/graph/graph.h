// Graph: a training step as data. A node applies an operator to values. Nodes run in the order in
// which they were added. A value is an input (the host writes it before a run), a variable (it
// lives as long as the session) or an intermediate (it lives within one phase).
//
// A node may write its output into a variable instead of a new intermediate (assign), or add the
// output to the variable (accumulate). Apart from that, values change only where an operator
// declares mutated inputs (optimisers).
//
// A graph is a list of named phases. The host decides when a phase runs. The intermediates of a
// phase live no longer than one run of it. Every graph has kMicroStep; passes and the optimiser add
// the others.
#pragma once

#include <any>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/op.h"
#include "graph/tensor_type.h"
#include "graph/value.h"

namespace cloze::graph {

// A handle to one of a Graph's phases.
struct Phase {
  int32_t index = 0;
  auto operator<=>(const Phase&) const = default;
};
inline constexpr std::string_view kMicroStep = "micro_step";  // each micro-batch: forward, backward
inline constexpr std::string_view kUpdate = "update";         // each step: clip, optimise
inline constexpr std::string_view kRefresh = "refresh";  // parameters changed: packed weights again

enum class ValueKind { kInput, kVariable, kIntermediate };

enum class VariableRole {
  kParameter,       // f32 master; saved in the model file under its own name
  kComputeCopy,     // a parameter as a product reads it: packed; derived, never saved
  kGradient,        // f32, accumulated over the micro-batches of a step
  kOptimizerState,  // saved with the training state
  kMetric,          // accumulated over the micro-batches of a step, read and cleared by the host
};

// The initial values of a parameter.
struct Init {
  enum class Kind { kZeros, kOnes, kTruncatedNormal, kUniform };
  Kind kind = Kind::kZeros;
  // kTruncatedNormal: the standard deviation, cut at two; kUniform: within [-spread, spread)
  double spread = 0.0;

  static Init zeros() { return {}; }
  static Init ones() { return {Kind::kOnes, 0.0}; }
  static Init truncated_normal(double deviation) { return {Kind::kTruncatedNormal, deviation}; }
  static Init uniform(double limit) { return {Kind::kUniform, limit}; }
};

// Tells the optimiser what it may do with a parameter. Biases and LayerNorm's weights have neither:
// see kVectorTraits.
struct ParameterTraits {
  bool decays = true;  // takes weight decay
  bool adapts = true;  // LAMB: takes a trust ratio of its own
  bool operator==(const ParameterTraits&) const = default;
};
// Source: the exclusion rule of google-research/bert and of NVIDIA's and Habana's LAMB.
inline constexpr ParameterTraits kVectorTraits{.decays = false, .adapts = false};

struct ValueInfo {
  std::string name;
  TensorType type;
  ValueKind kind = ValueKind::kIntermediate;
  VariableRole role = VariableRole::kParameter;  // variables only
  bool is_optional = false;                      // inputs only: zeros when nobody writes them
  Init init;                                     // parameters only
  ParameterTraits traits;                        // parameters only
  Value master;  // kComputeCopy, kGradient, kOptimizerState: the parameter it belongs to
};

struct Node {
  const OpDefinition* op = nullptr;
  std::string module;  // of the model: "bert.encoder.layer.0.output.dense"; may be empty
  int32_t layer = -1;  // of the encoder, its backward pass included; -1: of none
  std::any attributes;
  std::vector<Value> inputs;  // optional inputs come last and are left out when absent
  std::vector<Value> outputs;
  std::vector<bool> accumulates;  // per output: add to the variable instead of writing
  Phase phase;

  std::string name() const;            // module and operator, for the printer and the profiler
  std::vector<Value> written() const;  // its outputs, and the inputs that it updates in place
};

// The place where add_into puts an output: the variable, and whether to add to what is there.
struct Target {
  Value variable;
  bool accumulate = false;
};

class Copier;
class Rewriter;

class Graph {
 public:
  Value add_input(std::string name, TensorType type);
  Value add_variable(ValueInfo info);
  // f32, its name within the scope.
  Value add_parameter(std::string_view name, Shape shape, Init init, ParameterTraits traits = {});

  // Appends a node in the current phase and returns its outputs, typed by the operator's rule.
  std::vector<Value> add(const OpDefinition& op, std::vector<Value> inputs,
                         std::any attributes = {});
  // The same for an operator with one output.
  Value add_one(const OpDefinition& op, std::vector<Value> inputs, std::any attributes = {});
  // Appends a node whose outputs go into variables.
  void add_into(const OpDefinition& op, std::vector<Value> inputs, std::any attributes,
                std::vector<Target> targets);

  // A result that the host reads after a run; it stays in memory until the phase ends.
  void mark_output(Value value, std::string name);

  const ValueInfo& info(Value value) const;
  ValueInfo& info(Value value);
  const TensorType& type(Value value) const { return info(value).type; }
  std::vector<TensorType> types(const std::vector<Value>& values) const;
  std::optional<Value> find(std::string_view name) const;  // inputs, variables, marked outputs

  // Passes change nodes by a Rewriter (graph/rewriter.h).
  const std::vector<Node>& nodes() const { return nodes_; }
  int64_t num_values() const { return static_cast<int64_t>(values_.size()); }
  const std::vector<Value>& outputs() const { return outputs_; }
  std::vector<Value> variables(VariableRole role) const;
  int64_t largest_bytes(VariableRole role) const;  // of one variable; 0 without any
  std::vector<Value> inputs() const;

  // The phases in the order of their first use.
  const std::vector<std::string>& phases() const { return phases_; }
  std::optional<Phase> find_phase(std::string_view name) const;
  // The nodes of a phase in their order; none without such a phase.
  std::vector<const Node*> nodes_of(std::string_view phase) const;

  // A number for a node that draws random numbers: different for each, the same in each build.
  int32_t next_random_site() { return next_random_site_++; }

  // The place where nodes and parameters are added while a Scope lives.
  struct Place {
    std::string module;
    int32_t layer = -1;
    Phase phase;
  };
  class Scope {
   public:
    Scope(Graph& graph, Place place);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Graph& graph_;
    Place outer_;
  };
  [[nodiscard]] Scope scope(std::string_view name);  // a module within the module
  [[nodiscard]] Scope layer_scope(std::string_view name, int32_t layer);
  [[nodiscard]] Scope scope_of(const Node& node);           // where the node is
  [[nodiscard]] Scope phase_scope(std::string_view phase);  // outside all modules

  // Throws InternalError unless every value is defined before it is used, intermediates are used in
  // their own phase only, outputs are added only to variables and where the operator can, and all
  // types fit.
  void verify() const;
  std::string to_string() const;

 private:
  friend class Copier;
  friend class Rewriter;

  Value new_value(ValueInfo info);
  Value new_intermediate(TensorType type);
  void register_name(Value value, const std::string& name);
  Node& append(const OpDefinition& op, std::vector<Value> inputs, std::any attributes);

  std::vector<ValueInfo> values_;
  std::vector<Node> nodes_;
  std::vector<Value> outputs_;
  std::unordered_map<std::string, Value> names_;
  std::vector<std::string> phases_{std::string(kMicroStep)};
  Place place_;
  int32_t next_random_site_ = 0;
};

}  // namespace cloze::graph

// Graph: a training step as data. Nodes apply operators to values, in the order they were added,
// which is the order they run in. There are three kinds of values: inputs (written by the host
// before each run), variables (live as long as the session) and intermediates (live within one
// phase).
//
// A node may write its output into a variable instead of a new intermediate (assign), or add it
// to the variable (accumulate). That is all the mutation there is, besides the inputs an
// operator declares as mutated (optimisers).
//
// Phases: kMicroStep runs once per micro-batch (forward, backward, accumulate), kUpdate once per
// step (clip, optimise), kRefresh whenever parameters have changed (what was made of them
// is made again). A forward-only graph has an empty kUpdate.
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

enum class Phase { kMicroStep, kUpdate, kRefresh };
inline constexpr int kNumPhases = 3;

enum class ValueKind { kInput, kVariable, kIntermediate };

enum class VariableRole {
  kParameter,       // f32 master; saved in the model file under its own name
  kComputeCopy,     // a parameter as a product reads it: packed; derived, never saved
  kGradient,        // f32, accumulated over the micro-batches of a step
  kOptimizerState,  // saved with the training state
  kMetric,          // accumulated over the micro-batches of a step, read and cleared by the host
};

// How a parameter starts.
struct Init {
  enum class Kind { kZeros, kOnes, kTruncatedNormal };
  Kind kind = Kind::kZeros;
  double standard_deviation = 0.0;  // kTruncatedNormal: cut at two standard deviations

  static Init zeros() { return {}; }
  static Init ones() { return {Kind::kOnes, 0.0}; }
  static Init truncated_normal(double deviation) { return {Kind::kTruncatedNormal, deviation}; }
};

struct ValueInfo {
  std::string name;
  TensorType type;
  ValueKind kind = ValueKind::kIntermediate;
  VariableRole role = VariableRole::kParameter;  // variables only
  Init init;                                     // parameters only
  Value master;  // kComputeCopy, kGradient, kOptimizerState: the parameter it belongs to
};

struct Node {
  const OpDefinition* op = nullptr;
  std::string name;  // scope and operator, for the printer and the profiler
  std::any attributes;
  std::vector<Value> inputs;  // optional inputs come last and are left out when absent
  std::vector<Value> outputs;
  std::vector<bool> accumulates;  // per output: add to the variable instead of writing
  Phase phase = Phase::kMicroStep;
};

// Where add_into puts an output: the variable, and whether to add to what is there.
struct Target {
  Value variable;
  bool accumulate = false;
};

class Graph {
 public:
  Value add_input(std::string name, TensorType type);
  Value add_variable(ValueInfo info);
  Value add_parameter(std::string_view name, Shape shape, Init init);  // f32, name within scope

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

  const std::vector<Node>& nodes() const { return nodes_; }
  std::vector<Node>& nodes() { return nodes_; }  // for passes; run verify() afterwards
  int64_t num_values() const { return static_cast<int64_t>(values_.size()); }
  const std::vector<Value>& outputs() const { return outputs_; }
  std::vector<Value> variables(VariableRole role) const;
  std::vector<Value> inputs() const;

  void set_phase(Phase phase) { phase_ = phase; }
  Phase phase() const { return phase_; }

  // A number for a node that draws random numbers: different for each, the same in each build.
  int32_t next_random_site() { return next_random_site_++; }

  // Names of parameters and nodes added while the scope lives start with "a.b.".
  class Scope {
   public:
    Scope(Graph& graph, std::string_view name);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Graph& graph_;
    size_t outer_length_;
  };
  [[nodiscard]] Scope scope(std::string_view name) { return Scope(*this, name); }

  // Throws InternalError unless every value is defined before it is used and all types fit.
  void verify() const;
  std::string to_string() const;

 private:
  Value new_value(ValueInfo info);
  void register_name(Value value, const std::string& name);
  Node& append(const OpDefinition& op, std::vector<Value> inputs, std::any attributes);

  std::vector<ValueInfo> values_;
  std::vector<Node> nodes_;
  std::vector<Value> outputs_;
  std::unordered_map<std::string, Value> names_;
  std::string scope_;
  Phase phase_ = Phase::kMicroStep;
  int32_t next_random_site_ = 0;
};

}  // namespace cloze::graph

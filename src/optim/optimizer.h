// The optimiser as graph: clips and applies the accumulated gradients in the update phase.
//
//   norm = global_norm(gradients);  scale = gradient_scale(norm, loss_scale, losses)
//   for each parameter:
//     update(parameter, state ..., gradient, scale, learning_rate, update_index, check)
//
// A step whose norm or losses are not finite updates nothing.
// Adds the inputs learning_rate [1] f32, for each depth whose rate differs learning_rate.depth_D
// (optim/depth_rules.h), and update_index [1] i32 (1 for the first update), the
// state variables optimizer.STATE.<parameter>, and the metrics gradient_norm [1], of the scaled
// loss, and update_check [1]: NaN when the update wrote what is not finite. What decays and adapts:
// optim/parameter_rules.h. Defaults are those of graphcore/examples
// nlp/bert/tensorflow1/options.py.
#pragma once

#include <any>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "optim/depth_rules.h"

namespace cloze::optim {

// Names of the graph's inputs and metrics.
inline constexpr const char* kLearningRate = "learning_rate";
inline constexpr const char* kUpdateIndex = "update_index";
inline constexpr const char* kGradientNorm = "gradient_norm";
inline constexpr const char* kUpdateCheck = "update_check";

struct OptimizerOptions {
  std::string name = "lamb";  // of the table
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-6;
  double weight_decay_rate = 0.0;
  bool decays_layer_norm_scale = false;
  double momentum = 0.984375;               // of the optimiser momentum
  bool use_debiasing = false;               // bias correction of the moments; adam always has it
  bool debiases_epsilon = false;            // ops/optimizer_update.h; with bias correction only
  bool use_nvlamb = false;                  // divide gradients by max(their global norm, 1)
  bool use_mpclip = false;                  // clip the global norm at 1
  double weight_norm_clip = 0.0;            // lamb: a weight's norm counts as no more; 0: no limit
  bool adapts_vectors = false;              // lamb: a trust ratio for biases and LayerNorm, too
  bool joins_qkv = false;                   // lamb: one trust ratio for query, key and value
  DType first_moment = DType::kF32;         // what m is kept in: f32, bf16 or f16
  bool has_bf16_weights = false;            // each update rounds them: ops/stochastic_rounding.h
  std::optional<double> max_gradient_norm;  // clip it here; 0: never
  DepthRules depth;                         // which parameters train, and how fast

  // The limit of the global norm; 0: no clipping. max_gradient_norm; else 1 with use_nvlamb and
  // use_mpclip; else as the table says of the optimiser.
  double clipping_norm() const;
  // The factor with which first moments are stored: kFloat16MomentScale in f16, else 1.
  double first_moment_scale() const;
};

// Moments down to 2^-26 are then normal numbers of f16, and 16 is the largest that fits. The other
// dtypes have the range of f32 and need no factor.
inline constexpr double kFloat16MomentScale = 0x1p12;

// A row of the table of optimisers: to add one, add its operator (ops/optimizer_update.h) and a
// row.
struct Optimizer {
  std::string_view name;
  std::string_view alias;  // another name for it; may be empty
  // Inputs: parameter, its states, gradient, gradient_scale, learning_rate, update_index, check.
  const graph::OpDefinition* update = nullptr;
  std::vector<std::string_view> states;  // of the parameter's shape, zeros at the start; "m" in
                                         // first_moment, the others f32
  std::any (*attributes)(const OptimizerOptions&, const graph::ValueInfo& parameter) = nullptr;
  // Names of the options it reads, clipping aside.
  std::vector<std::string_view> options;
  double default_max_gradient_norm = 0.0;
};

// UserError for a name that is not in the table, which lists those that are.
const Optimizer& optimizer_named(std::string_view name);
std::vector<std::string> optimizer_names();  // aliases too

// The values of a step that the update reads.
struct StepValues {
  std::vector<graph::Value> losses;  // variables [1] f32 that hold them when the update runs
  graph::Value loss_scale;           // [1] f32: the factor by which gradients are too large
  graph::Value random_key;           // [2] i32: seed, step; read with has_bf16_weights
};

// One rank's part of an update that ranks share: only this rank has the optimiser states of these
// parameters. gradient_norm covers only this part until the ranks have combined their norms.
struct UpdateShare {
  int rank = 0;
  int ranks = 1;
  // The number in the whole model of each gradient of a graph that is part of one, or -1 when
  // another rank updates its parameter. Empty: the graph is the whole model.
  std::vector<int32_t> numbers;
  // Parameters that share a trust ratio go to one rank: they are one tensor to share out.
  bool keeps_joined = false;
};

// The rank that takes each size: the largest first, each to the rank with the smallest total so
// far.
std::vector<int> shared_out(std::span<const int64_t> sizes, int ranks);

// The rank that updates the parameter of each gradient of the graph, assigned by size
// (shared_out()); -1 where `share.numbers` is -1. UserError when there are more ranks than
// gradients to assign.
std::vector<int> update_owners(const graph::Graph& graph, const UpdateShare& share);

// An input of the update: the schedule's learning rate times the factor.
struct RateInput {
  std::string name;
  double factor = 1.0;
};

// Run after differentiate(): every parameter that has a gradient, and is in this rank's share, is
// updated. Returns the inputs of learning rates. UserError as optimizer_named and update_owners.
std::vector<RateInput> add_optimizer(graph::Graph& graph, const OptimizerOptions& options,
                                     const StepValues& step, const UpdateShare& share = {});

}  // namespace cloze::optim

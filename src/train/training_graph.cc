#include "train/training_graph.h"

#include <utility>

#include "base/error.h"
#include "engine/devices.h"
#include "ops/elementwise.h"
#include "passes/accumulate.h"
#include "passes/differentiate.h"
#include "passes/precision.h"
#include "passes/recompute.h"

namespace cloze::train {
namespace {

using graph::Graph;
using graph::Value;
using graph::VariableRole;

const backend::Backend& backend_of(const TrainingStepOptions& options) {
  return engine::device_named(options.compile.device).backend();
}

Value add_metric(Graph& graph, const std::string& name) {
  return graph.add_variable({.name = name, .type = graph::kScalar, .role = VariableRole::kMetric});
}

void accumulate_metric(Graph& graph, const std::string& name, Value value) {
  const Value metric = add_metric(graph, name);
  graph.add_into(ops::kAccumulate, {value}, {}, {{metric, true}});
}

std::vector<models::TaskLoss> add_forward(Graph& graph, const TrainingStepOptions& options) {
  const models::BatchShape shape{.tokens = options.capacity.tokens,
                                 .sequences = options.capacity.sequences,
                                 .predictions = options.capacity.predictions};
  std::vector<models::TaskLoss> losses =
      models::bert_for_training(graph, options.model, options.head, shape);
  passes::use_compute_dtype(graph, options.compute_dtype);
  return losses;
}

void accumulate_metrics(Graph& graph, const std::vector<models::TaskLoss>& losses) {
  for (const models::TaskLoss& loss : losses) {
    if (loss.given_gradient.valid()) {
      add_metric(graph, loss.name + "_loss");  // that the host writes
      continue;
    }
    accumulate_metric(graph, loss.name + "_loss", loss.loss);
    if (loss.correct.valid()) accumulate_metric(graph, loss.name + "_correct", loss.correct);
  }
}

std::vector<LossTerm> terms_of(const std::vector<models::TaskLoss>& losses) {
  std::vector<LossTerm> terms;
  for (const models::TaskLoss& loss : losses) {
    terms.push_back({loss.name, loss.per_prediction, loss.correct.valid(), loss.class_weights});
  }
  return terms;
}

optim::StepValues step_values(const TrainingGraph& training) {
  const Graph& graph = training.graph;
  optim::StepValues values{.loss_scale = *graph.find(kLossGradient),
                           .random_key = *graph.find(models::kRandomKey)};
  for (const LossTerm& term : training.terms) {
    values.losses.push_back(*graph.find(term.name + "_loss"));
  }
  return values;
}

std::vector<Value> frozen_parameters(const Graph& graph, const optim::DepthRules& rules) {
  std::vector<Value> frozen = graph.variables(VariableRole::kParameter);
  std::erase_if(frozen,
                [&](Value parameter) { return !rules.freezes(graph.info(parameter).name); });
  return frozen;
}

// Reduces the graph to what this rank computes.
void take_stage(TrainingGraph& training, const TrainingStepOptions& options) {
  CLOZE_CHECK(options.ranks->size() % options.num_stages() == 0, "{} ranks in {} stages",
              options.ranks->size(), options.num_stages());
  const int rank = options.ranks->rank() % options.num_stages();
  passes::PipelineCut cut = passes::cut_to_rank(training.graph, options.stages, rank);
  training.graph = std::move(cut.graph);
  training.update.numbers = cut.plan.gradient_numbers;
  training.pipeline = std::move(cut.plan);
}

}  // namespace

std::vector<backend::GraphPass> training_passes(const TrainingStepOptions& options) {
  std::vector<backend::GraphPass> passes = backend_of(options).training_passes();
  passes.push_back({"accumulate_in_place", passes::accumulate_in_place});
  if (options.recompute) passes.push_back({"recompute_layers", passes::recompute_layers});
  return passes;
}

TrainingGraph training_graph(const TrainingStepOptions& options) {
  return training_graph(options, training_passes(options));
}

TrainingGraph training_graph(const TrainingStepOptions& options,
                             const std::vector<backend::GraphPass>& passes) {
  Graph graph;
  const std::vector<models::TaskLoss> losses = add_forward(graph, options);
  const Value seed = graph.add_input(kLossGradient, graph::kScalar);
  std::vector<passes::GivenGradient> minimised;
  for (const models::TaskLoss& loss : losses) {
    minimised.push_back({loss.loss, loss.given_gradient.valid() ? loss.given_gradient : seed});
  }
  passes::differentiate(graph, minimised, frozen_parameters(graph, options.optimizer.depth));
  accumulate_metrics(graph, losses);
  for (const backend::GraphPass& pass : passes) pass.run(graph);
  TrainingGraph training{.graph = std::move(graph), .terms = terms_of(losses)};
  if (options.num_stages() > 1) take_stage(training, options);
  training.update.keeps_joined = options.optimizer.joins_qkv;
  if (options.divides_states()) {
    training.update.ranks = options.num_replicas();
    training.update.rank = options.ranks->rank() / options.num_stages();
  }
  optim::OptimizerOptions optimizer = options.optimizer;
  optimizer.depth.num_layers = options.model.num_hidden_layers;
  training.rates =
      optim::add_optimizer(training.graph, optimizer, step_values(training), training.update);
  return training;
}

TrainingGraph evaluation_graph(TrainingStepOptions options) {
  options.model.hidden_dropout_prob = 0.0;
  options.model.attention_probs_dropout_prob = 0.0;
  options.head.classifier_dropout = 0.0;
  Graph graph;
  const std::vector<models::TaskLoss> losses = add_forward(graph, options);
  graph.info(*graph.find(models::kRandomKey)).is_optional = true;  // nothing is dropped
  accumulate_metrics(graph, losses);
  for (const backend::GraphPass& pass : backend_of(options).evaluation_passes()) pass.run(graph);
  return {std::move(graph), terms_of(losses)};
}

}  // namespace cloze::train

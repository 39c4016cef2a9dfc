#include "train/training_step.h"

#include <algorithm>
#include <cmath>

#include "models/bert.h"
#include "ops/elementwise.h"
#include "passes/accumulate.h"
#include "passes/differentiate.h"
#include "passes/fuse.h"
#include "passes/precision.h"
#include "train/micro_batch_inputs.h"

namespace cloze::train {
namespace {

using graph::Graph;
using graph::Phase;
using graph::Value;
using graph::VariableRole;

void accumulate_metric(Graph& graph, const char* name, Value value) {
  const Value metric =
      graph.add_variable({.name = name, .type = {DType::kF32, {1}}, .role = VariableRole::kMetric});
  graph.add_into(ops::kAccumulate, {value}, {}, {{metric, true}});
}

double inverse(int64_t count) { return 1.0 / static_cast<double>(std::max<int64_t>(count, 1)); }

}  // namespace

Graph training_graph(const TrainingStepOptions& options) {
  Graph graph;
  const models::BatchShape shape{.tokens = options.capacity.tokens,
                                 .sequences = options.capacity.sequences,
                                 .predictions = options.capacity.predictions};
  const models::PretrainingOutputs outputs =
      models::bert_for_pretraining(graph, options.model, shape);
  passes::use_compute_dtype(graph, options.compute_dtype);

  const Value seed = graph.add_input("loss_gradient", {DType::kF32, {1}});
  passes::differentiate(graph, {outputs.mlm.loss, outputs.nsp.loss}, seed);
  accumulate_metric(graph, "mlm_loss", outputs.mlm.loss);
  accumulate_metric(graph, "mlm_correct", outputs.mlm.correct);
  accumulate_metric(graph, "nsp_loss", outputs.nsp.loss);
  accumulate_metric(graph, "nsp_correct", outputs.nsp.correct);

  passes::fuse_activations(graph);
  passes::fuse_vocabulary_loss(graph);
  passes::accumulate_in_place(graph);
  optim::add_optimizer(graph, options.optimizer);
  return graph;
}

TrainingStep::TrainingStep(const TrainingStepOptions& options)
    : seed_(options.seed), session_(training_graph(options), options.compile) {}

StepResult TrainingStep::accumulate(const data::StepBatch& batch, int64_t step) {
  const int32_t key[] = {static_cast<int32_t>(seed_), static_cast<int32_t>(step)};
  session_.write<int32_t>("random_key", key);
  session_.write_scalar("loss_gradient", 1.0f);
  session_.write_scalar("mlm_normalizer", static_cast<float>(inverse(batch.num_predictions)));
  session_.write_scalar("nsp_normalizer", static_cast<float>(inverse(batch.num_sequences)));
  for (const data::MicroBatch& micro_batch : batch.micro_batches) {
    write_micro_batch(session_, micro_batch);
    session_.run(Phase::kMicroStep);
  }
  const StepResult result{
      .mlm_loss = session_.values<float>("mlm_loss")[0],
      .nsp_loss = session_.values<float>("nsp_loss")[0],
      .mlm_accuracy = session_.values<float>("mlm_correct")[0] * inverse(batch.num_predictions),
      .nsp_accuracy = session_.values<float>("nsp_correct")[0] * inverse(batch.num_sequences)};
  session_.clear(plan::Arena::kMetrics);
  return result;
}

void TrainingStep::update(int64_t step, double learning_rate) {
  session_.write_scalar("learning_rate", static_cast<float>(learning_rate));
  session_.write_scalar("update_index", static_cast<int32_t>(step + 1));
  session_.run(Phase::kUpdate);
  session_.refresh();
}

StepResult TrainingStep::run(const data::StepBatch& batch, int64_t step, double learning_rate) {
  StepResult result = accumulate(batch, step);
  update(step, learning_rate);
  result.gradient_norm = session_.values<float>("gradient_norm")[0];
  if (std::isfinite(result.gradient_norm)) session_.clear(plan::Arena::kGradients);
  return result;
}

}  // namespace cloze::train

#include "train/training_step.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "feed/micro_batch_inputs.h"
#include "ops/elementwise.h"
#include "passes/accumulate.h"
#include "passes/differentiate.h"
#include "passes/fuse.h"
#include "passes/precision.h"
#include "passes/recompute.h"
#include "platform/signals.h"

namespace cloze::train {
namespace {

using graph::Graph;
using graph::Value;
using graph::VariableRole;

constexpr const char* kLossGradient = "loss_gradient";
constexpr const char* kRandomKey = "random_key";

Value accumulate_metric(Graph& graph, const std::string& name, Value value) {
  const Value metric =
      graph.add_variable({.name = name, .type = graph::kScalar, .role = VariableRole::kMetric});
  graph.add_into(ops::kAccumulate, {value}, {}, {{metric, true}});
  return metric;
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

// Returns the totals of the losses.
std::vector<Value> accumulate_metrics(Graph& graph, const std::vector<models::TaskLoss>& losses) {
  std::vector<Value> totals;
  for (const models::TaskLoss& loss : losses) {
    totals.push_back(accumulate_metric(graph, loss.name + "_loss", loss.loss));
    if (loss.correct.valid()) accumulate_metric(graph, loss.name + "_correct", loss.correct);
  }
  return totals;
}

// Of each micro-batch.
int64_t passes_of(const data::StepBatch& batch) {
  return std::max<int64_t>(batch.synthetic_passes, 1);
}

double inverse(int64_t count) { return 1.0 / static_cast<double>(std::max<int64_t>(count, 1)); }

std::vector<LossTerm> terms_of(const std::vector<models::TaskLoss>& losses) {
  std::vector<LossTerm> terms;
  for (const models::TaskLoss& loss : losses) {
    terms.push_back({loss.name, loss.per_prediction, loss.correct.valid()});
  }
  return terms;
}

}  // namespace

double StepResult::loss() const {
  double sum = 0.0;
  for (const LossValue& part : losses) sum += part.loss;
  return sum;
}

bool StepResult::is_finite() const { return std::isfinite(loss()) && std::isfinite(gradient_norm); }

std::vector<TrainingPass> training_passes(bool recompute) {
  std::vector<TrainingPass> passes{{"fuse_activations", passes::fuse_activations},
                                   {"fuse_vocabulary_loss", passes::fuse_vocabulary_loss},
                                   {"accumulate_in_place", passes::accumulate_in_place}};
  if (recompute) passes.push_back({"recompute_layers", passes::recompute_layers});
  return passes;
}

TrainingGraph training_graph(const TrainingStepOptions& options) {
  return training_graph(options, training_passes(options.recompute));
}

TrainingGraph training_graph(const TrainingStepOptions& options,
                             const std::vector<TrainingPass>& passes) {
  Graph graph;
  const std::vector<models::TaskLoss> losses = add_forward(graph, options);
  const Value seed = graph.add_input(kLossGradient, graph::kScalar);
  std::vector<Value> minimised;
  for (const models::TaskLoss& loss : losses) minimised.push_back(loss.loss);
  passes::differentiate(graph, minimised, seed);
  const std::vector<Value> totals = accumulate_metrics(graph, losses);
  for (const TrainingPass& pass : passes) pass.run(graph);
  optim::add_optimizer(
      graph, options.optimizer,
      {.losses = totals, .loss_scale = seed, .random_key = *graph.find(kRandomKey)});
  return {std::move(graph), terms_of(losses)};
}

TrainingGraph evaluation_graph(TrainingStepOptions options) {
  options.model.hidden_dropout_prob = 0.0;
  options.model.attention_probs_dropout_prob = 0.0;
  options.head.classifier_dropout = 0.0;
  Graph graph;
  const std::vector<models::TaskLoss> losses = add_forward(graph, options);
  graph.info(*graph.find(kRandomKey)).is_optional = true;  // nothing is dropped
  accumulate_metrics(graph, losses);
  passes::fuse_activations(graph);
  return {std::move(graph), terms_of(losses)};
}

TrainingStep::TrainingStep(const TrainingStepOptions& options)
    : TrainingStep(training_graph(options), options) {}

TrainingStep::TrainingStep(TrainingGraph training, const TrainingStepOptions& options)
    : model_(options.model),
      seed_(options.seed),
      is_eager_(options.eager),
      ranks_(*options.ranks),
      terms_(std::move(training.terms)),
      session_(std::move(training.graph), options.compile) {
  CLOZE_CHECK(!is_eager_ || ranks_.size() == 1, "an eager step has one rank");
}

int64_t TrainingStep::count_of(const LossTerm& term, const data::StepBatch& batch) const {
  return term.per_prediction ? batch.num_predictions : batch.num_sequences;
}

void TrainingStep::write_step_inputs(const data::StepBatch& batch, int64_t step) {
  if (session_.has(kLossGradient)) {  // not when evaluating
    const int32_t key[] = {static_cast<int32_t>(seed_), static_cast<int32_t>(step)};
    session_.write<int32_t>(kRandomKey, key);
    session_.write_scalar(kLossGradient, loss_scale_);
  }
  for (const LossTerm& term : terms_) {
    const std::string normalizer = term.name + "_normalizer";
    if (!session_.has(normalizer)) continue;  // each prediction has its own
    session_.write_scalar(normalizer, static_cast<float>(inverse(count_of(term, batch))));
  }
}

void TrainingStep::write_update_inputs(int64_t step, double learning_rate) {
  session_.write_scalar("learning_rate", static_cast<float>(learning_rate));
  session_.write_scalar("update_index", static_cast<int32_t>(step + 1));
}

void TrainingStep::write_micro_batch(const data::MicroBatch& micro_batch, bool is_synthetic) {
  if (!is_synthetic || !has_synthetic_inputs_) feed::write_micro_batch(session_, micro_batch);
  has_synthetic_inputs_ = is_synthetic;
}

void TrainingStep::require_rows(const data::StepBatch& batch) const {
  for (const data::MicroBatch& micro_batch : batch.micro_batches) {
    feed::require_rows(micro_batch.input_ids, model_.vocab_size, "token id");
    feed::require_rows(micro_batch.token_type_ids, model_.type_vocab_size,
                       "token type (type_vocab_size)");
    feed::require_rows(micro_batch.position_ids, model_.max_position_embeddings, "position");
  }
}

// After an operator that wrote what is not finite the rest of an eager step is left out.
void TrainingStep::run_phase(std::string_view phase) {
  if (!is_eager_) return session_.run(phase);
  if (!non_finite_) non_finite_ = session_.executor().run_until_non_finite(phase);
}

StepResult TrainingStep::read_losses(const data::StepBatch& batch) {
  StepResult result;
  for (const LossTerm& term : terms_) {
    LossValue& value = result.losses.emplace_back(
        LossValue{.name = term.name, .loss = session_.read_scalar<float>(term.name + "_loss")});
    if (non_finite_) value.loss = std::numeric_limits<double>::quiet_NaN();
    if (term.has_accuracy) {
      value.accuracy =
          session_.read_scalar<float>(term.name + "_correct") * inverse(count_of(term, batch));
    }
  }
  return result;
}

void TrainingStep::read_update(StepResult& result) {
  result.gradient_norm = session_.read_scalar<float>("gradient_norm") / double{loss_scale_};
  result.update_is_finite = std::isfinite(session_.read_scalar<float>("update_check"));
}

StepResult TrainingStep::accumulate(const data::StepBatch& batch, int64_t step) {
  require_rows(batch);
  write_step_inputs(batch, step);
  session_.clear(plan::Arena::kMetrics);
  non_finite_.reset();
  for (size_t i = 0; i < batch.micro_batches.size(); ++i) {
    const bool is_own = static_cast<int>(i % static_cast<size_t>(ranks_.size())) == ranks_.rank();
    if (is_own) run_micro_batch(batch.micro_batches[i], batch);
  }
  if (ranks_.size() > 1) sum_over_ranks();
  return read_losses(batch);
}

void TrainingStep::run_micro_batch(const data::MicroBatch& micro_batch,
                                   const data::StepBatch& batch) {
  write_micro_batch(micro_batch, batch.synthetic_passes > 0);
  for (int64_t pass = 0; pass < passes_of(batch); ++pass) {
    const bool is_first = pass == 0 && &micro_batch == &batch.micro_batches.front();
    if (!is_first && ranks_.size() == 1) platform::stop_if_requested();
    run_phase(graph::kMicroStep);
  }
}

void TrainingStep::sum_over_ranks() {
  std::vector<float> values;
  for (const VariableRole role : {VariableRole::kGradient, VariableRole::kMetric}) {
    for (const Value variable : session_.graph().variables(role)) {
      const std::string& name = session_.graph().info(variable).name;
      session_.read<float>(name, values);
      ranks_.all_reduce(values);
      session_.write<float>(name, values);
    }
  }
}

void TrainingStep::update(int64_t step, double learning_rate) {
  write_update_inputs(step, learning_rate);
  run_phase(graph::kUpdate);
}

void TrainingStep::finish(StepResult& result, int64_t step, double learning_rate) {
  update(step, learning_rate);
  read_update(result);
  if (result.update_is_finite) clear_gradients();
}

StepResult TrainingStep::run(const data::StepBatch& batch, int64_t step, double learning_rate) {
  StepResult result = accumulate(batch, step);
  finish(result, step, learning_rate);
  return result;
}

void TrainingStep::write_ahead(std::span<const StepAhead> steps) {
  size_t written = 0;
  for (const StepAhead& ahead : steps) {
    loss_scale_ = static_cast<float>(ahead.loss_scale);
    write_step_inputs(*ahead.batch, ahead.step);
    write_update_inputs(ahead.step, ahead.learning_rate);
    for (const data::MicroBatch& micro_batch : ahead.batch->micro_batches) {
      write_micro_batch(micro_batch, ahead.batch->synthetic_passes > 0);
      inputs_ahead_.take(written++);
    }
  }
}

void TrainingStep::run_written(std::span<const StepAhead> steps) {
  size_t run = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    session_.clear(plan::Arena::kMetrics);
    for (size_t j = 0; j < steps[i].batch->micro_batches.size(); ++j) {
      inputs_ahead_.put_back(run++);
      for (int64_t pass = 0; pass < passes_of(*steps[i].batch); ++pass) {
        session_.run(graph::kMicroStep);
      }
    }
    session_.run(graph::kUpdate);
    session_.clear(plan::Arena::kGradients);
    metrics_behind_.take(i);
  }
}

std::vector<StepResult> TrainingStep::run_ahead(std::span<const StepAhead> steps) {
  CLOZE_CHECK(!is_eager_ && ranks_.size() == 1, "an eager or shared step is looked at first");
  for (const StepAhead& ahead : steps) require_rows(*ahead.batch);
  write_ahead(steps);
  run_written(steps);
  std::vector<StepResult> results;
  for (size_t i = 0; i < steps.size(); ++i) {
    metrics_behind_.put_back(i);
    loss_scale_ = static_cast<float>(steps[i].loss_scale);
    read_update(results.emplace_back(read_losses(*steps[i].batch)));
  }
  return results;
}

std::optional<runtime::NonFiniteOutput> TrainingStep::find_non_finite(const data::StepBatch& batch,
                                                                      int64_t step) {
  if (non_finite_ && non_finite_->phase == graph::kMicroStep) return non_finite_;
  clear_gradients();
  session_.clear(plan::Arena::kMetrics);
  write_step_inputs(batch, step);
  runtime::Executor& executor = session_.executor();
  for (const data::MicroBatch& micro_batch : batch.micro_batches) {
    feed::write_micro_batch(session_, micro_batch);
    for (int64_t pass = 0; pass < passes_of(batch); ++pass) {
      if (auto found = executor.run_until_non_finite(graph::kMicroStep)) return found;
    }
  }
  // An update with a loss that is not finite changes nothing.
  session_.write_scalar(terms_.front().name + "_loss", std::numeric_limits<float>::quiet_NaN());
  return executor.run_until_non_finite(graph::kUpdate);
}

}  // namespace cloze::train

#include "train/training_step.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/division.h"
#include "base/error.h"
#include "feed/micro_batch_inputs.h"
#include "platform/phase.h"
#include "platform/signals.h"

namespace cloze::train {
namespace {

using graph::Graph;
using graph::Value;
using graph::VariableRole;
using optim::kGradientNorm;
using optim::kUpdateCheck;

// The root of the sum of squares, in the order of the ranks.
float norm_over(comm::Communicator& ranks, float own_norm) {
  std::vector<float> norms(static_cast<size_t>(ranks.size()), 0.0f);
  norms[static_cast<size_t>(ranks.rank())] = own_norm;
  ranks.all_reduce(norms);
  double squares = 0.0;
  for (const float norm : norms) squares += double{norm} * norm;
  return static_cast<float>(std::sqrt(squares));
}

// The launches of the update after which its gradient_norm is known.
size_t launches_to_norm(const Graph& graph) {
  const Value norm = *graph.find(kGradientNorm);
  size_t launches = 0;
  for (const graph::Node* node : graph.nodes_of(graph::kUpdate)) {
    ++launches;
    if (std::ranges::find(node->outputs, norm) != node->outputs.end()) return launches;
  }
  CLOZE_CHECK(false, "an update without {}", kGradientNorm);
}

double inverse(int64_t count) { return 1.0 / static_cast<double>(std::max<int64_t>(count, 1)); }

MicroBatchSessions::MakeGraph smaller_graphs(const TrainingStepOptions& options) {
  return [options](const data::MicroBatchCapacity& capacity) {
    TrainingStepOptions smaller = options;
    smaller.capacity = capacity;
    return training_graph(smaller).graph;
  };
}

}  // namespace

double StepResult::loss() const {
  double sum = 0.0;
  for (const LossValue& part : losses) sum += part.loss;
  return sum;
}

bool StepResult::is_finite() const { return std::isfinite(loss()) && std::isfinite(gradient_norm); }

TrainingStep::TrainingStep(const TrainingStepOptions& options)
    : TrainingStep(training_graph(options), options, smaller_graphs(options)) {}

TrainingStep::TrainingStep(TrainingGraph training, const TrainingStepOptions& options,
                           MicroBatchSessions::MakeGraph make_smaller)
    : model_(options.model),
      seed_(options.seed),
      is_eager_(options.eager),
      ranks_(*options.ranks),
      shards_states_(options.divides_states()),
      terms_(std::move(training.terms)),
      session_(std::move(training.graph), options.compile),
      micro_batch_sessions_(session_, options.capacity, options.compile, std::move(make_smaller)) {
  CLOZE_CHECK(!is_eager_ || (ranks_.size() == 1 && !options.reproducible_sums),
              "an eager step has one rank, and adds up in place");
  if (training.pipeline) {
    stage_ = std::make_unique<comm::Group>(ranks_, 1, ranks_.rank() % options.num_stages());
    replica_ = std::make_unique<comm::Group>(ranks_, 2, ranks_.rank() / options.num_stages());
  }
  const Graph& graph = session_.graph();
  if (options.reproducible_sums) {
    sums_.emplace(session_, replicas());
    summed_ = summed_variables(graph, 0, session_.executor().num_launches(graph::kMicroStep));
  }
  if (training.pipeline) {
    pipeline_.emplace(std::move(*training.pipeline), options.schedule, *replica_,
                      micro_batch_sessions_, sums_ ? &*sums_ : nullptr);
  }
  if (graph.variables(VariableRole::kGradient).empty()) return;
  owners_ = optim::update_owners(graph, training.update);
  norm_numbers_ = norm_numbers(training.update);
  launches_to_norm_ = launches_to_norm(graph);
  if (replicas().size() == 1) return;
  exchange_.emplace(session_, replicas(), owners_, shards_states_, options.gradient_transport);
}

void TrainingStep::read_parameter(const std::string& name, int64_t first, std::span<float> values) {
  std::ranges::fill(values, 0.0f);
  if (!pipeline_ || (stage_->rank() == 0 && pipeline_->is_first_with(name))) {
    session_.executor().read_part(session_.value(name), first * int64_t{sizeof(float)},
                                  std::as_writable_bytes(values));
  }
  if (pipeline_) ranks_.all_reduce(values);
}

std::vector<bool> TrainingStep::own_gradients() const {
  std::vector<bool> own;
  for (const int owner : owners_) own.push_back(owner == replicas().rank());
  return own;
}

std::vector<int32_t> TrainingStep::norm_numbers(const optim::UpdateShare& share) const {
  std::vector<int32_t> numbers;
  for (const bool is_own : own_gradients()) {
    const size_t i = numbers.size();
    const int32_t number = share.numbers.empty() ? static_cast<int32_t>(i) : share.numbers[i];
    numbers.push_back(is_own ? number : -1);
  }
  return numbers;
}

int64_t TrainingStep::in_flight(int64_t micro_batches) const {
  const int64_t replicas = this->replicas().size();
  return pipeline_ ? pipeline_->in_flight(divide_up(micro_batches, replicas)) : 1;
}

int64_t TrainingStep::count_of(const LossTerm& term, const data::StepBatch& batch) const {
  return term.per_prediction ? batch.num_predictions : batch.num_sequences;
}

void TrainingStep::write_step_inputs(engine::Session& session, const data::StepBatch& batch,
                                     int64_t step) {
  if (session.has(kLossGradient)) {  // not when evaluating
    const int32_t key[] = {static_cast<int32_t>(seed_), static_cast<int32_t>(step)};
    session.write<int32_t>(models::kRandomKey, key);
    session.write_scalar(kLossGradient, loss_scale_);
  }
  for (const LossTerm& term : terms_) {
    const std::string normalizer = term.name + "_normalizer";
    if (!session.has(normalizer)) continue;  // each prediction has its own
    session.write_scalar(normalizer, static_cast<float>(inverse(count_of(term, batch))));
  }
}

void TrainingStep::write_update_inputs(int64_t step, double learning_rate) {
  session_.write_scalar(optim::kLearningRate, static_cast<float>(learning_rate));
  session_.write_scalar(optim::kUpdateIndex, static_cast<int32_t>(step + 1));
}

void TrainingStep::write_micro_batch(engine::Session& session, const data::MicroBatch& micro_batch,
                                     const data::StepBatch& batch, int64_t step) {
  const bool is_synthetic = batch.synthetic_passes > 0;
  if (&session != &session_) write_step_inputs(session, batch, step);  // the step's own has them
  if (!is_synthetic || !has_synthetic_inputs_) feed::write_micro_batch(session, micro_batch);
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
void TrainingStep::run_phase(engine::Session& session, std::string_view phase) {
  if (!is_eager_) return session.run(phase);
  if (!non_finite_) non_finite_ = session.executor().run_until_non_finite(phase);
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
  result.gradient_norm = session_.read_scalar<float>(kGradientNorm) / double{loss_scale_};
  result.update_is_finite = std::isfinite(session_.read_scalar<float>(kUpdateCheck));
}

StepResult TrainingStep::accumulate(const data::StepBatch& batch, int64_t step) {
  require_rows(batch);
  write_step_inputs(session_, batch, step);
  session_.clear(plan::Arena::kMetrics);
  non_finite_.reset();
  if (sums_) sums_->begin();
  pipeline_ ? run_pipeline(batch, step) : run_micro_batches(batch, step);
  sum_metrics();
  StepResult result = read_losses(batch);
  if (exchange_) result.communication = take_times();
  return result;
}

// Each rank takes every size-th pass of a step; in a pipeline, each replica does.
void TrainingStep::run_micro_batches(const data::StepBatch& batch, int64_t step) {
  const int64_t count = batch.num_passes();
  const int64_t size = ranks_.size();
  const int64_t rank = ranks_.rank();
  for (int64_t own = rank; own < count + rank; own += size) {
    if (own < count) run_pass(batch, own, step);
    if (sums_) sums_->add(summed_, own < count);
  }
  if (sums_) return sums_->end();
  if (exchange_ && count <= rank) exchange_->sum();
}

void TrainingStep::run_pipeline(const data::StepBatch& batch, int64_t step) {
  const int64_t count = batch.num_passes();
  const int64_t replicas = this->replicas().size();
  const int64_t most = divide_up(count, replicas);
  std::vector<const data::MicroBatch*> own;
  for (int64_t i = this->replicas().rank(); i < count; i += replicas) {
    own.push_back(&batch.of_pass(i));
  }
  const auto write = [&](engine::Session& session, const data::MicroBatch& micro_batch) {
    write_step_inputs(session, batch, step);
    feed::write_micro_batch(session, micro_batch);
  };
  pipeline_->run(std::move(own), most, write);
  if (sums_) sums_->end();
  pipeline_->sum_shared_gradients();
  if (exchange_ && !sums_) exchange_->sum();
}

// Every pass of synthetic data has the inputs of the first.
void TrainingStep::run_pass(const data::StepBatch& batch, int64_t pass, int64_t step) {
  platform::enter_phase("computing a micro-batch");
  const data::MicroBatch& micro_batch = batch.of_pass(pass);
  engine::Session& session = micro_batch_sessions_.holding(micro_batch).session();
  const bool is_first = pass == ranks_.rank();
  if (is_first || batch.synthetic_passes == 0) write_micro_batch(session, micro_batch, batch, step);
  if (!is_first && ranks_.size() == 1) platform::stop_if_requested();
  const bool is_last = pass + ranks_.size() >= batch.num_passes();
  if (exchange_ && !sums_ && is_last) {
    exchange_->run_and_sum(session);
  } else {
    run_phase(session, graph::kMicroStep);
  }
}

// With sums_ all replicas have them already.
void TrainingStep::sum_metrics() {
  if (!sums_) return sum_metrics_over(ranks_);
  if (pipeline_) sum_metrics_over(*replica_);
}

void TrainingStep::sum_metrics_over(comm::Communicator& ranks) {
  if (ranks.size() == 1) return;
  std::vector<float> values;
  for (const Value variable : session_.graph().variables(VariableRole::kMetric)) {
    values.push_back(session_.read_scalar<float>(session_.graph().info(variable).name));
  }
  ranks.all_reduce(values);
  auto value = values.begin();
  for (const Value variable : session_.graph().variables(VariableRole::kMetric)) {
    session_.write_scalar(session_.graph().info(variable).name, *value++);
  }
}

float TrainingStep::norm_of_all(float own_norm) {
  if (sums_) return reproducible_norm(session_, norm_numbers_, ranks_);
  return norm_over(shards_states_ ? ranks_ : *replica_, own_norm);
}

// Each rank's norm is that of the gradients it updates with, until all norms are combined.
void TrainingStep::run_shared_update() {
  runtime::Executor& executor = session_.executor();
  executor.run_part(graph::kUpdate, 0, launches_to_norm_);
  platform::enter_wait("summing the norm");
  session_.write_scalar(kGradientNorm, norm_of_all(session_.read_scalar<float>(kGradientNorm)));
  if (shards_states_) {
    exchange_->update_and_share(launches_to_norm_);
  } else {
    executor.run_part(graph::kUpdate, launches_to_norm_, executor.num_launches(graph::kUpdate));
  }
  float check[] = {session_.read_scalar<float>(kUpdateCheck)};
  ranks_.all_reduce(check);
  session_.write_scalar(kUpdateCheck, check[0]);
  if (pipeline_) pipeline_->share_parameters();
}

void TrainingStep::update(int64_t step, double learning_rate) {
  write_update_inputs(step, learning_rate);
  is_divided() || sums_ ? run_shared_update() : run_phase(session_, graph::kUpdate);
}

// Micro-batches without an update, such as those of a probe, do not count for the next step.
CommunicationTime TrainingStep::take_times() {
  CommunicationTime time = exchange_->take_time();
  if (sums_) time.add(sums_->take_time());
  return time;
}

void TrainingStep::finish(StepResult& result, int64_t step, double learning_rate) {
  platform::enter_phase("updating");
  update(step, learning_rate);
  read_update(result);
  if (exchange_) {
    if (!result.communication) result.communication.emplace();
    result.communication->add(take_times());
  }
  if (pipeline_) result.bubble = pipeline_->bubble();
  if (result.update_is_finite) clear_gradients();
}

StepResult TrainingStep::run(const data::StepBatch& batch, int64_t step, double learning_rate) {
  StepResult result = accumulate(batch, step);
  finish(result, step, learning_rate);
  return result;
}

// The inputs of the update are kept with those of the full session: with the last micro-batch, or
// alone if that went through a smaller session.
void TrainingStep::write_ahead(std::span<const StepAhead> steps) {
  micro_batch_sessions_.begin_ahead();
  for (const StepAhead& ahead : steps) {
    loss_scale_ = static_cast<float>(ahead.loss_scale);
    write_step_inputs(session_, *ahead.batch, ahead.step);
    write_update_inputs(ahead.step, ahead.learning_rate);
    MicroBatchSession* last = nullptr;
    for (const data::MicroBatch& micro_batch : ahead.batch->micro_batches) {
      last = &micro_batch_sessions_.holding(micro_batch);
      write_micro_batch(last->session(), micro_batch, *ahead.batch, ahead.step);
      last->keep_inputs();
    }
    if (last != &micro_batch_sessions_.full()) micro_batch_sessions_.full().keep_inputs();
  }
}

void TrainingStep::run_written(std::span<const StepAhead> steps) {
  for (size_t i = 0; i < steps.size(); ++i) {
    session_.clear(plan::Arena::kMetrics);
    MicroBatchSession* last = nullptr;
    for (const data::MicroBatch& micro_batch : steps[i].batch->micro_batches) {
      last = &micro_batch_sessions_.holding(micro_batch);
      last->take_inputs();
      for (int64_t pass = 0; pass < steps[i].batch->passes(); ++pass) {
        last->session().run(graph::kMicroStep);
      }
    }
    if (last != &micro_batch_sessions_.full()) micro_batch_sessions_.full().take_inputs();
    session_.run(graph::kUpdate);
    session_.clear(plan::Arena::kGradients);
    metrics_behind_.take(i);
  }
}

std::vector<StepResult> TrainingStep::run_ahead(std::span<const StepAhead> steps) {
  CLOZE_CHECK(!is_eager_ && !sums_ && ranks_.size() == 1,
              "an eager or shared step is looked at first");
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
  write_step_inputs(session_, batch, step);
  for (const data::MicroBatch& micro_batch : batch.micro_batches) {
    engine::Session& session = micro_batch_sessions_.holding(micro_batch).session();
    write_micro_batch(session, micro_batch, batch, step);
    for (int64_t pass = 0; pass < batch.passes(); ++pass) {
      if (auto found = session.executor().run_until_non_finite(graph::kMicroStep)) return found;
    }
  }
  // An update with a loss that is not finite changes nothing.
  session_.write_scalar(terms_.front().name + "_loss", std::numeric_limits<float>::quiet_NaN());
  return session_.executor().run_until_non_finite(graph::kUpdate);
}

}  // namespace cloze::train

#include "train/training_step.h"

#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "optim/optimizer.h"
#include "platform/phase.h"

namespace cloze::train {
namespace {

using graph::VariableRole;

TrainingStep::MakeGraph smaller_graphs(const TrainingStepOptions& options) {
  return [options](const feed::MicroBatchSize& size) {
    TrainingStepOptions smaller = options;
    smaller.capacity = {size.tokens, size.sequences, size.predictions};
    return training_graph(smaller).graph;
  };
}

std::vector<int> owners_of(const TrainingGraph& training) {
  const bool updates = !training.graph.variables(VariableRole::kGradient).empty();
  return updates ? optim::update_owners(training.graph, training.update) : std::vector<int>();
}

std::vector<int32_t> norm_numbers(const optim::UpdateShare& share, const std::vector<bool>& own) {
  std::vector<int32_t> numbers;
  for (const bool is_own : own) {
    const size_t i = numbers.size();
    const int32_t number = share.numbers.empty() ? static_cast<int32_t>(i) : share.numbers[i];
    numbers.push_back(is_own ? number : -1);
  }
  return numbers;
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
                           MakeGraph make_smaller)
    : ranks_(*options.ranks, training.pipeline ? options.num_stages() : 1),
      shards_states_(options.divides_states()),
      owners_(owners_of(training)),
      terms_(std::move(training.terms)),
      session_(std::move(training.graph), options.compile),
      sessions_(session_,
                {.full = feed::size_of(options.capacity),
                 .compile = options.compile,
                 .make_graph = std::move(make_smaller),
                 .round_up =
                     [full = feed::size_of(options.capacity)](const feed::MicroBatchSize& need) {
                       return feed::eighths_for(need, full);
                     }}),
      inputs_(sessions_, options.model, options.seed, terms_, std::move(training.rates)),
      exchange_(make_step_exchange(sessions_, ranks_,
                                   {.is_eager = options.eager,
                                    .reproducible_sums = options.reproducible_sums,
                                    .divides_states = shards_states_,
                                    .gradient_transport = options.gradient_transport,
                                    .owners = owners_,
                                    .norm_numbers = norm_numbers(training.update, own_gradients()),
                                    .pipeline = std::move(training.pipeline),
                                    .schedule = options.schedule})) {
  if (!options.vector_loss || !session_.has(models::kVectorGradients)) return;
  CLOZE_CHECK(!is_pipeline(), "vectors of a step are compared by ranks with the whole model");
  vectors_.emplace(options.vector_loss, ranks_.replicas());
}

std::vector<bool> TrainingStep::own_gradients() const {
  std::vector<bool> own;
  for (const int owner : owners_) own.push_back(owner == ranks_.replicas().rank());
  return own;
}

void TrainingStep::write_inputs(const data::StepBatch& batch, int64_t step) {
  inputs_.begin(batch, step, static_cast<float>(current_.loss_scale));
  session_.clear(plan::Arena::kGradients);
  session_.clear(plan::Arena::kMetrics);
}

void TrainingStep::begin(const StepAhead& step) {
  current_ = step;
  write_inputs(*step.batch, step.step);
  exchange_->take_time();  // of micro-batches without an update, such as a probe's
  session_.refresh();      // of what was written since, by the update or from a checkpoint
  compute();
}

// A loss of vectors is known on every rank, and summed over none.
void TrainingStep::compute() {
  const double loss = vectors_ ? vectors_->compute(inputs_) : 0.0;
  exchange_->begin();
  if (vectors_) exchange_->go_on_after(vectors_->launches_done());
  exchange_->compute(inputs_);
  exchange_->finish();
  if (vectors_) session_.write_scalar(terms_.front().name + "_loss", static_cast<float>(loss));
}

void TrainingStep::finish() {
  platform::enter_phase("updating");
  update(current_.step, current_.learning_rate);
  copy_metrics();
  finished_.push_back(current_);
}

void TrainingStep::update(int64_t step, double learning_rate) {
  inputs_.write_update(step, learning_rate);
  exchange_->update();
}

runtime::ArenaCopy& TrainingStep::copy_metrics() {
  while (metrics_.size() <= finished_.size()) {
    metrics_.push_back(
        std::make_unique<runtime::ArenaCopy>(session_.executor(), plan::Arena::kMetrics));
  }
  runtime::ArenaCopy& copy = *metrics_[finished_.size()];
  copy.take();
  return copy;
}

StepResult TrainingStep::losses() { return losses_in(copy_metrics(), current_); }

std::vector<StepResult> TrainingStep::take_results() {
  std::vector<StepResult> results;
  for (const StepAhead& step : finished_) {
    results.push_back(result_in(*metrics_[results.size()], step));
  }
  finished_.clear();
  return results;
}

StepResult TrainingStep::losses_in(runtime::ArenaCopy& metrics, const StepAhead& step) {
  const auto number = [&](const std::string& name) {
    return metrics.scalar<float>(session_.value(name));
  };
  const auto stopped_at = exchange_->non_finite();
  const bool has_losses = !stopped_at || stopped_at->phase != graph::kMicroStep;
  StepResult result;
  for (const LossTerm& term : terms_) {
    LossValue& value = result.losses.emplace_back(
        LossValue{.name = term.name, .loss = number(term.name + "_loss")});
    if (!has_losses) value.loss = std::numeric_limits<double>::quiet_NaN();
    if (term.has_accuracy) {
      value.accuracy = number(term.name + "_correct") * feed::share_of_each(term, *step.batch);
    }
  }
  return result;
}

StepResult TrainingStep::result_in(runtime::ArenaCopy& metrics, const StepAhead& step) {
  StepResult result = losses_in(metrics, step);
  const auto scale = static_cast<float>(step.loss_scale);
  result.gradient_norm =
      metrics.scalar<float>(session_.value(optim::kGradientNorm)) / double{scale};
  result.update_is_finite =
      std::isfinite(metrics.scalar<float>(session_.value(optim::kUpdateCheck)));
  result.communication = exchange_->take_time();
  result.bubble = exchange_->bubble();
  return result;
}

StepResult TrainingStep::run(const data::StepBatch& batch, int64_t step, double learning_rate) {
  begin({.batch = &batch,
         .step = step,
         .learning_rate = learning_rate,
         .loss_scale = current_.loss_scale});
  finish();
  return take_results().back();
}

StepResult TrainingStep::accumulate(const data::StepBatch& batch, int64_t step) {
  begin({.batch = &batch, .step = step, .loss_scale = current_.loss_scale});
  return losses();
}

std::optional<runtime::NonFiniteOutput> TrainingStep::find_non_finite(const data::StepBatch& batch,
                                                                      int64_t step) {
  const std::optional<runtime::NonFiniteOutput> known = exchange_->non_finite();
  if (known && known->phase == graph::kMicroStep) return known;
  write_inputs(batch, step);
  if (vectors_) vectors_->compute(inputs_);
  for (int64_t pass = 0; pass < inputs_.num_passes(); ++pass) {
    engine::Session& session = inputs_.session_with(pass);
    if (auto found = session.executor().run_until_non_finite(graph::kMicroStep)) return found;
  }
  // An update with a loss that is not finite changes nothing.
  session_.write_scalar(terms_.front().name + "_loss", std::numeric_limits<float>::quiet_NaN());
  return session_.executor().run_until_non_finite(graph::kUpdate);
}

}  // namespace cloze::train

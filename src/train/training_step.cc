#include "train/training_step.h"

#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "optim/optimizer.h"
#include "platform/phase.h"
#include "platform/signals.h"

namespace cloze::train {
namespace {

using graph::VariableRole;

TrainingStep::MakeGraph smaller_graphs(const TrainingStepOptions& options) {
  return [options](const MicroBatchSize& size) {
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
      sessions_(session_, {.full = size_of(options.capacity),
                           .compile = options.compile,
                           .make_graph = std::move(make_smaller),
                           .round_up =
                               [full = size_of(options.capacity)](const MicroBatchSize& need) {
                                 return eighths_for(need, full);
                               }}),
      inputs_(sessions_, options.model, options.seed, terms_),
      exchange_(make_step_exchange(sessions_, ranks_,
                                   {.is_eager = options.eager,
                                    .reproducible_sums = options.reproducible_sums,
                                    .divides_states = shards_states_,
                                    .gradient_transport = options.gradient_transport,
                                    .owners = owners_,
                                    .norm_numbers = norm_numbers(training.update, own_gradients()),
                                    .pipeline = std::move(training.pipeline),
                                    .schedule = options.schedule})) {}

std::vector<bool> TrainingStep::own_gradients() const {
  std::vector<bool> own;
  for (const int owner : owners_) own.push_back(owner == ranks_.replicas().rank());
  return own;
}

StepResult TrainingStep::read_losses(const data::StepBatch& batch) {
  StepResult result;
  for (const LossTerm& term : terms_) {
    LossValue& value = result.losses.emplace_back(
        LossValue{.name = term.name, .loss = session_.read_scalar<float>(term.name + "_loss")});
    if (exchange_->non_finite()) value.loss = std::numeric_limits<double>::quiet_NaN();
    if (term.has_accuracy) {
      value.accuracy =
          session_.read_scalar<float>(term.name + "_correct") * normalizer_of(term, batch);
    }
  }
  return result;
}

void TrainingStep::read_update(StepResult& result) {
  result.gradient_norm = session_.read_scalar<float>(optim::kGradientNorm) / double{loss_scale_};
  result.update_is_finite = std::isfinite(session_.read_scalar<float>(optim::kUpdateCheck));
}

void TrainingStep::compute(const data::StepBatch& batch, int64_t step) {
  inputs_.begin(batch, step, loss_scale_);
  session_.clear(plan::Arena::kMetrics);
  exchange_->begin();
  exchange_->compute(inputs_);
  exchange_->finish();
}

// Micro-batches without an update, such as those of a probe, do not count for the next step: the
// time of each half is taken at its end.
StepResult TrainingStep::accumulate(const data::StepBatch& batch, int64_t step) {
  compute(batch, step);
  StepResult result = read_losses(batch);
  result.communication = exchange_->take_time();
  return result;
}

void TrainingStep::update(int64_t step, double learning_rate) {
  inputs_.write_update(step, learning_rate);
  exchange_->update();
}

void TrainingStep::finish(StepResult& result, int64_t step, double learning_rate) {
  platform::enter_phase("updating");
  update(step, learning_rate);
  read_update(result);
  if (auto time = exchange_->take_time()) {
    if (result.communication) time->add(*result.communication);
    result.communication = time;
  }
  result.bubble = exchange_->bubble();
  if (result.update_is_finite) clear_gradients();
}

StepResult TrainingStep::run(const data::StepBatch& batch, int64_t step, double learning_rate) {
  StepResult result = accumulate(batch, step);
  finish(result, step, learning_rate);
  return result;
}

std::vector<StepResult> TrainingStep::run_ahead(std::span<const StepAhead> steps) {
  CLOZE_CHECK(ranks().size() == 1, "a shared step is looked at first");
  size_t done = 0;
  try {
    for (; done < steps.size(); ++done) {
      set_loss_scale(steps[done].loss_scale);
      compute(*steps[done].batch, steps[done].step);
      update(steps[done].step, steps[done].learning_rate);
      clear_gradients();
      metrics_behind_.take(done);
    }
  } catch (const platform::Interruption&) {
    clear_gradients();
    if (done == 0) throw;
  }
  std::vector<StepResult> results;
  for (const StepAhead& step : steps.first(done)) {
    metrics_behind_.put_back(results.size());
    set_loss_scale(step.loss_scale);
    read_update(results.emplace_back(read_losses(*step.batch)));
  }
  return results;
}

std::optional<runtime::NonFiniteOutput> TrainingStep::find_non_finite(const data::StepBatch& batch,
                                                                      int64_t step) {
  const std::optional<runtime::NonFiniteOutput> known = exchange_->non_finite();
  if (known && known->phase == graph::kMicroStep) return known;
  clear_gradients();
  session_.clear(plan::Arena::kMetrics);
  inputs_.begin(batch, step, loss_scale_);
  for (int64_t pass = 0; pass < inputs_.num_passes(); ++pass) {
    engine::Session& session = inputs_.session_with(pass);
    if (auto found = session.executor().run_until_non_finite(graph::kMicroStep)) return found;
  }
  // An update with a loss that is not finite changes nothing.
  session_.write_scalar(terms_.front().name + "_loss", std::numeric_limits<float>::quiet_NaN());
  return session_.executor().run_until_non_finite(graph::kUpdate);
}

}  // namespace cloze::train

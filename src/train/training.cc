#include "train/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/seconds.h"
#include "models/bert_flops.h"
#include "models/bert_heads.h"
#include "platform/phase.h"
#include "platform/signals.h"
#include "train/batch_source.h"
#include "train/ranks/gathered_tensors.h"
#include "train/tensor_norms.h"

namespace cloze::train {
namespace {

namespace fs = std::filesystem;
using graph::VariableRole;
using Clock = std::chrono::steady_clock;

void append_zeros(const std::vector<models::AbsentBias>& biases,
                  std::vector<formats::TensorSource>& tensors) {
  for (const models::AbsentBias& bias : biases) {
    tensors.push_back({.name = bias.name,
                       .dtype = DType::kF32,
                       .shape = Shape{bias.size},
                       .read = [](int64_t, std::span<std::byte> target) {
                         std::ranges::fill(target, std::byte{0});
                       }});
  }
}

bool is_due(int64_t step, int64_t period) { return period > 0 && step % period == 0; }

models::BatchWork work_of(const data::StepBatch& batch) {
  models::BatchWork work{.tokens = static_cast<double>(batch.num_tokens),
                         .predictions = static_cast<double>(batch.num_predictions)};
  for (const data::MicroBatch& micro_batch : batch.micro_batches) {
    const std::vector<int32_t>& starts = micro_batch.sequence_starts;
    for (size_t i = 0; i + 1 < starts.size(); ++i) {
      const double length = starts[i + 1] - starts[i];
      work.squared_lengths += length * length;
    }
  }
  work.squared_lengths *= static_cast<double>(batch.passes());
  return work;
}

std::optional<double> ceiling_share(double flops, double seconds, double product_flops) {
  return product_flops > 0.0 ? std::optional(flops / (seconds * product_flops)) : std::nullopt;
}

}  // namespace

std::optional<std::string_view> TrainingOptions::why_step_by_step() const {
  if (step.eager) return "eager";
  if (step.ranks->size() > 1) return "several processes";
  if (step.reproducible_sums) return "reproducible_sums";
  if (step.compute_dtype == DType::kF16) return "precision f16";
  if (loss_scale.is_dynamic(step.compute_dtype)) return "a dynamic loss scale";
  if (watch.on_non_finite != WatchPolicy::kStop) return "on_non_finite";
  const bool only_tells =
      watch.on_loss_spike == WatchPolicy::kIgnore || watch.on_loss_spike == WatchPolicy::kWarn;
  return only_tells ? std::nullopt : std::optional<std::string_view>("on_loss_spike");
}

bool saves_from_copy(const TrainingStepOptions& step) {
  return !step.divides_states() && step.num_stages() == 1 &&
         step.compile.optimizer_state_folder.empty();
}

Training::Training(TrainingOptions options, Notice notice)
    : options_(std::move(options)),
      notice_(std::move(notice)),
      step_(options_.step),
      loss_scale_(options_.loss_scale, options_.step.compute_dtype),
      untrained_loss_(models::untrained_loss(options_.step.model, options_.step.head)),
      store_(options_.save_path, options_.max_to_keep) {
  if (options_.evaluation_set) {
    evaluation_.emplace(options_.step, *options_.evaluation_set);
    options_.evaluated_on = options_.evaluation_set->fingerprint();
  }
  options_.restore_dir.empty() ? start_fresh() : restore();
}

void Training::count(const data::StepBatch& batch) {
  state_.samples += batch.num_sequences;
  state_.tokens += batch.num_tokens;
  state_.epoch = static_cast<double>(state_.samples) *
                 static_cast<double>(options_.duplicate_factor) /
                 static_cast<double>(options_.dataset->size());
}

std::optional<StepMetrics> Training::train_one_step(const data::StepBatch& batch,
                                                    double waited_seconds) {
  const int64_t step = state_.step;
  const double rate = optim::learning_rate(options_.schedule, step);
  const double scale = loss_scale_.at(step, state_.loss_scale);
  step_.set_loss_scale(scale);
  const Clock::time_point start = Clock::now();
  StepResult result = step_.accumulate(batch, step);
  if (!passes_spike_watch(result, batch)) return std::nullopt;
  std::vector<TensorNorm> norms;
  if (is_due(step + 1, options_.steps_per_norms)) norms = shared_norms(scale);
  step_.finish(result, step, rate);
  if (is_overflow(result)) {
    take_overflow(batch, scale);
    return std::nullopt;
  }
  if (const auto problem = find_problem(result, batch, rate)) {
    recover(options_.watch.on_non_finite, *problem, &batch);
    return std::nullopt;
  }
  const double seconds = seconds_since(start) + waited_seconds;
  const StepAhead done{.batch = &batch, .step = step, .learning_rate = rate, .loss_scale = scale};
  StepMetrics metrics = count_step(done, result, {.all = seconds, .waited = waited_seconds});
  metrics.norms = std::move(norms);
  return metrics;
}

// Where ranks have different tensors, each says what it knows of its own.
std::vector<TensorNorm> Training::shared_norms(double loss_scale) {
  const std::vector<TensorNorm> norms = tensor_norms(step_.session(), loss_scale);
  if (!step_.is_divided()) return norms;
  struct Norms {
    double weight = 0.0, gradient = 0.0;
  };
  std::vector<std::string> names;
  std::vector<Norms> own;
  const std::vector<bool> is_own = step_.own_gradients();
  for (size_t i = 0; i < norms.size(); ++i) {
    if (!is_own[i]) continue;
    names.push_back(norms[i].name);
    own.push_back({norms[i].weight, norms[i].gradient});
  }
  const std::vector<std::vector<std::string>> all_names = step_.ranks().all_gather(names);
  const std::vector<std::vector<Norms>> all = step_.ranks().all_gather(own);
  std::vector<TensorNorm> shared;
  for (size_t rank = 0; rank < all.size(); ++rank) {
    for (size_t i = 0; i < all[rank].size(); ++i) {
      shared.push_back({all_names[rank][i], all[rank][i].weight, all[rank][i].gradient});
    }
  }
  return shared;
}

StepMetrics Training::count_step(const StepAhead& done, const StepResult& result, Seconds seconds) {
  const data::StepBatch& batch = *done.batch;
  loss_scale_.take_good_step(state_.loss_scale);
  state_.watch.losses.take(result.loss());
  const bool is_high = untrained_loss_ && is_high_loss(result.loss(), *untrained_loss_);
  state_.watch.high_losses = is_high ? state_.watch.high_losses + 1 : 0;
  state_.watch.skips = 0;
  state_.step = done.step + 1;
  count(batch);
  const double flops = models::training_flops(options_.step.model, work_of(batch));
  return StepMetrics{.step = state_.step,
                     .epoch = state_.epoch,
                     .samples = state_.samples,
                     .tokens = state_.tokens,
                     .loss = result.loss(),
                     .losses = result.losses,
                     .high_losses = state_.watch.high_losses,
                     .learning_rate = done.learning_rate,
                     .gradient_norm = result.gradient_norm,
                     .loss_scale = done.loss_scale,
                     .skipped_steps = state_.skipped_steps,
                     .tokens_per_second = static_cast<double>(batch.num_tokens) / seconds.all,
                     .sequences_per_second = static_cast<double>(batch.num_sequences) / seconds.all,
                     .data_wait_share = seconds.waited / seconds.all,
                     .seconds = seconds.all,
                     .communication = result.communication,
                     .bubble = result.bubble,
                     .flops = flops,
                     .ceiling_share = ceiling_share(flops, seconds.all, options_.product_flops)};
}

int64_t Training::steps_ahead() const {
  if (options_.why_step_by_step()) return 1;
  int64_t end = std::min(state_.step + options_.device_iterations, options_.num_steps);
  const auto visit_every = [&](int64_t period, int64_t before) {
    if (period > 0) end = std::min(end, (state_.step / period + 1) * period - before);
  };
  visit_every(options_.steps_per_checkpoint, 0);
  visit_every(options_.steps_per_norms, 1);  // a step with norms goes alone
  const std::vector<int64_t>& evaluations = options_.evaluation_steps;
  const auto next = std::ranges::upper_bound(evaluations, state_.step);
  if (evaluates() && next != evaluations.end()) end = std::min(end, *next);
  return std::max<int64_t>(end - state_.step, 1);
}

// The device does not stop where the host would: if later steps have updated the weights, it is no
// longer known where a step went wrong.
void Training::require_still_known(std::span<const StepResult> results) {
  const auto is_good = [](const StepResult& result) {
    return result.is_finite() && result.update_is_finite;
  };
  const auto bad = std::ranges::find_if_not(results, is_good);
  if (bad == results.end()) return;
  if (bad->update_is_finite && std::none_of(bad, results.end(), is_good)) return;
  const int64_t step = state_.step + 1 + (bad - results.begin());
  const std::string what =
      bad->is_finite()
          ? fmt::format("the update of step {} produced numbers that are not finite", step)
          : not_finite_step(step, *bad);
  throw DivergenceError(fmt::format(
      "{}. {}. Set device_iterations 1 to see where it begins, or lower base_learning_rate", what,
      last_saved()));
}

void Training::train_ahead(std::span<const data::StepBatch> batches, double waited_seconds) {
  std::vector<StepAhead> steps;
  for (const data::StepBatch& batch : batches) {
    const int64_t step = state_.step + std::ssize(steps);
    steps.push_back({.batch = &batch,
                     .step = step,
                     .learning_rate = optim::learning_rate(options_.schedule, step),
                     .loss_scale = loss_scale_.at(step, state_.loss_scale)});
  }
  const Clock::time_point start = Clock::now();
  const std::vector<StepResult> results = step_.run_ahead(steps);
  const auto count = static_cast<double>(steps.size());
  const Seconds seconds{.all = (seconds_since(start) + waited_seconds) / count,
                        .waited = waited_seconds / count};
  require_still_known(results);
  for (size_t i = 0; i < steps.size(); ++i) {
    const data::StepBatch& batch = batches[i];
    if (const auto problem = find_problem(results[i], batch, steps[i].learning_rate)) {
      recover(WatchPolicy::kStop, *problem, &batch);
    }
    passes_spike_watch(results[i], batch);  // prints at most a line
    take(count_step(steps[i], results[i], seconds));
  }
}

void Training::take(StepMetrics metrics) {
  if (options_.after_step) options_.after_step(metrics);
  const double loss = metrics.loss;
  log(std::move(metrics));
  watch_high_loss(loss);
}

void Training::log(StepMetrics metrics) {
  const bool is_last = state_.step == options_.num_steps;
  if (!is_due(state_.step, options_.steps_per_log) && !is_last && metrics.norms.empty()) return;
  for (MetricsSink* sink : sinks_) sink->write(metrics);
  metrics.norms.clear();
  add_to_history(history_, metrics, state_.logged_steps++);
}

TrainingOutcome Training::run(const std::vector<MetricsSink*>& sinks) {
  sinks_ = sinks;
  try {
    train();
  } catch (const platform::Interruption&) {  // in a step: it is done again after resuming
    is_asked_to_stop_ = true;
    step_.clear_gradients();
  } catch (const std::exception&) {
    finish_saving();
    throw;
  }
  finish_saving();
  save();
  return outcome();
}

bool Training::is_over() const {
  return state_.step >= options_.num_steps || has_reached_target() || is_asked_to_stop_;
}

// All ranks leave after the same step.
void Training::share_stop_request() {
  platform::enter_wait("agreeing to go on");
  float requests[] = {platform::stop_requested() ? 1.0f : 0.0f};
  comm::Communicator& ranks = *options_.step.ranks;
  ranks.all_reduce(requests);
  is_asked_to_stop_ = requests[0] > 0.0f;
  if (!is_asked_to_stop_) return;
  for (const int theirs : ranks.all_gather(platform::stop_signal())) {
    if (stop_signal_ == 0) stop_signal_ = theirs;
  }
}

void Training::train() {
  BatchSource source(options_, state_.batches());
  if (options_.watch.rolls_back()) save();  // there has to be something to go back to
  if (state_.step > state_.evaluated_step && is_evaluation_due()) evaluate();
  for (share_stop_request(); !is_over(); share_stop_request()) {
    announce(background_.outcome());
    platform::enter_step(state_.step + 1);
    platform::enter_phase("waiting for data");
    const double waited_before = source.waited_seconds();
    std::vector<data::StepBatch> batches = source.next(steps_ahead());
    const double waited = source.waited_seconds() - waited_before;
    if (batches.size() > 1) {
      train_ahead(batches, waited);
    } else {
      std::optional<StepMetrics> metrics = train_one_step(batches.front(), waited);
      if (!metrics) continue;
      take(std::move(*metrics));
    }
    probe_ = std::move(batches.back().micro_batches.front());
    if (is_evaluation_due()) evaluate();
    if (is_due(state_.step, options_.steps_per_checkpoint) || state_.step == options_.num_steps) {
      save();
    }
  }
}

void Training::save() {
  if (last_saved_step_ == state_.step || !have_finite_gradients()) return;
  platform::enter_phase("saving");
  announce(background_.wait());
  if (step_.is_divided()) {
    save_together();
  } else if (!is_first_rank()) {
    // This rank has the same weights as the first, which saves them.
  } else if (is_over() || !saves_from_copy(options_.step)) {
    announce(store_.save(content_of_session()));
  } else {
    background_.start(content_of_session());
  }
  last_saved_step_ = state_.step;
}

// While the first rank writes, the others send it what they have: they wait, but no rank needs
// memory for the states of all.
void Training::save_together() {
  GatheredTensors gathered(step_.ranks(), step_.session());
  if (!is_first_rank()) return gathered.serve();
  announce(store_.save(content(gathered.tensors(VariableRole::kParameter),
                               gathered.tensors(VariableRole::kOptimizerState))));
}

CheckpointContent Training::content_of_session() {
  return content(tensors_of(step_.session(), VariableRole::kParameter),
                 tensors_of(step_.session(), VariableRole::kOptimizerState));
}

CheckpointContent Training::content(std::vector<formats::TensorSource> model,
                                    std::vector<formats::TensorSource> optimizer) {
  append_zeros(models::absent_biases(options_.step.model, options_.step.head.kind), model);
  return {.model = std::move(model),
          .optimizer = std::move(optimizer),
          .state = state_,
          .history = history_,
          .files = [this, state = state_] {
            std::vector<TextFile> files = model_folder_files({.config = options_.step.model,
                                                              .head = options_.step.head,
                                                              .tokens = options_.tokens,
                                                              .tokenizer = options_.tokenizer},
                                                             state);
            files.insert(files.end(), options_.extra_files.begin(), options_.extra_files.end());
            return files;
          }};
}

void Training::announce(const std::optional<fs::path>& saved) {
  if (saved) notice_(fmt::format("saved {}", saved->string()));
}

// A failed save is only reported: there is another error to throw, or the step is saved again.
void Training::finish_saving() {
  try {
    announce(background_.wait());
  } catch (const std::exception& error) {
    last_saved_step_ = -1;
    notice_(error.what());
  }
}

}  // namespace cloze::train

#include "forecast/step_simulation.h"

#include <algorithm>
#include <vector>

#include "forecast/event_queue.h"
#include "forecast/exchange.h"

namespace cloze::forecast {
namespace {

// Sums of gradients: each share is sent to its owner; then, where all need all sums, the owner
// sends them to all.
std::vector<std::vector<ExchangeRound>> gradient_rounds(const StepModel& model) {
  std::vector<std::vector<ExchangeRound>> rounds(static_cast<size_t>(model.layout.stages));
  if (model.layout.replicas == 1) return rounds;
  for (int64_t stage = 0; stage < model.layout.stages; ++stage) {
    for (const GradientBucket& bucket : model.buckets(stage)) {
      std::vector<ExchangeRound>& of_stage = rounds[static_cast<size_t>(stage)];
      std::vector<double> shares = bucket.shares;
      for (double& share : shares) share *= model.travelling();
      of_stage.push_back({.ready = {bucket.at}, .bytes = shares, .is_to_owner = true});
      if (!model.layout.is_sharded) of_stage.push_back({.bytes = shares});
    }
  }
  return rounds;
}

std::vector<std::vector<ExchangeRound>> parameter_rounds(const StepModel& model) {
  std::vector<std::vector<ExchangeRound>> rounds(static_cast<size_t>(model.layout.stages));
  if (model.layout.replicas == 1 || !model.layout.is_sharded) return rounds;
  for (int64_t stage = 0; stage < model.layout.stages; ++stage) {
    for (const UpdatedBucket& bucket : model.updated_buckets(stage)) {
      rounds[static_cast<size_t>(stage)].push_back({.ready = bucket.at, .bytes = bucket.shares});
    }
  }
  return rounds;
}

// The passes of all ranks. A rank's sums begin during its last backward pass; in a pipeline they
// begin after it, on the first stage once it also has the last stage's gradients.
class Pipelines {
 public:
  Pipelines(const StepModel& model, double straggler)
      : model_(model),
        straggler_(straggler),
        sums_(model, queue_, gradient_rounds(model)),
        ranks_(static_cast<size_t>(model.layout.ranks())) {
    const std::vector<std::vector<StageTask>> tasks = model.layout.tasks();
    for (int64_t rank = 0; rank < model.layout.ranks(); ++rank) {
      Rank& state = ranks_[static_cast<size_t>(rank)];
      state.tasks = tasks[static_cast<size_t>(rank % model.layout.stages)];
      const auto count = static_cast<size_t>(model.layout.micro_batches);
      state.has_input[0].resize(count, rank % model.layout.stages == 0);
      state.has_input[1].resize(count, (rank + 1) % model.layout.stages == 0);
    }
  }

  void run() {
    for (int64_t rank = 0; rank < model_.layout.ranks(); ++rank) try_task(rank, 0.0);
    queue_.run();
  }
  double computed() const { return std::ranges::max(ranks_, {}, &Rank::computed).computed; }
  double summed() const {
    double latest = 0.0;
    for (int64_t rank = 0; rank < model_.layout.ranks(); ++rank) {
      latest = std::max(latest, end_of(rank));
    }
    return latest;
  }

 private:
  struct Rank {
    std::vector<StageTask> tasks;
    size_t next = 0;
    bool is_busy = false;
    std::vector<bool> has_input[2];  // forward, backward; by micro-batch
    double computed = 0.0;
  };

  double end_of(int64_t rank) const {
    const double computed = ranks_[static_cast<size_t>(rank)].computed + sums_.taken(rank);
    return std::max(sums_.end(rank), computed);
  }

  void try_task(int64_t rank, double time) {
    Rank& state = ranks_[static_cast<size_t>(rank)];
    if (state.is_busy || state.next == state.tasks.size()) return;
    const StageTask& task = state.tasks[state.next];
    if (!state.has_input[task.is_backward ? 1 : 0][static_cast<size_t>(task.micro_batch)]) return;
    state.is_busy = true;
    const StageCosts& costs = model_.stages[static_cast<size_t>(rank % model_.layout.stages)];
    const double seconds =
        (rank == 0 ? straggler_ : 1.0) * (task.is_backward ? costs.backward : costs.forward);
    if (model_.layout.stages == 1 && state.next + 1 == state.tasks.size()) {
      sums_.start(rank, time, rank == 0 ? straggler_ : 1.0);
    }
    queue_.add(time + seconds, [this, rank](double now) { finish_task(rank, now); });
  }

  // The result leaves for the neighbour; the rank goes on computing once its own part of the send
  // is done.
  void finish_task(int64_t rank, double time) {
    Rank& state = ranks_[static_cast<size_t>(rank)];
    const StageTask task = state.tasks[state.next++];
    const int64_t stage = rank % model_.layout.stages;
    const double message =
        task.is_backward ? model_.backward_seconds(stage) : model_.forward_seconds(stage);
    const int64_t neighbour = rank + (task.is_backward ? -1 : 1);
    if (neighbour / model_.layout.stages == rank / model_.layout.stages && neighbour >= 0) {
      queue_.add(time + message, [this, neighbour, task](double now) {
        ranks_[static_cast<size_t>(neighbour)]
            .has_input[task.is_backward ? 1 : 0][static_cast<size_t>(task.micro_batch)] = true;
        try_task(neighbour, now);
      });
    }
    const double own_part = (1.0 - model_.network.overlap) * message;
    queue_.add(time + own_part, [this, rank](double now) {
      Rank& state = ranks_[static_cast<size_t>(rank)];
      state.is_busy = false;
      state.computed = now;
      if (state.next == state.tasks.size()) end_passes(rank, now);
      try_task(rank, now);
    });
  }

  void end_passes(int64_t rank, double time) {
    const int64_t stages = model_.layout.stages, stage = rank % stages;
    if (stages == 1) return;
    if (stage > 0) sums_.start(rank, time);
    if (stage > 0 && stage + 1 < stages) return;
    const int64_t first = rank - stage, last = first + stages - 1;
    const bool are_both_done = has_passed(first) && has_passed(last);
    if (!are_both_done) return;
    queue_.add(time + model_.tied_seconds(),
               [this, first](double now) { sums_.start(first, now); });
  }
  bool has_passed(int64_t rank) const {
    const Rank& state = ranks_[static_cast<size_t>(rank)];
    return !state.is_busy && state.next == state.tasks.size();
  }

  const StepModel& model_;
  double straggler_;
  EventQueue queue_;
  Exchange sums_;
  std::vector<Rank> ranks_;
};

// The time when the last rank has finished, if all begin to update together. The first stage sends
// the parameters that it shares with the last stage.
double updated_by_all(const StepModel& model, double straggler) {
  EventQueue queue;
  Exchange exchange(model, queue, parameter_rounds(model));
  for (int64_t stage = 0; stage < model.layout.stages; ++stage) {
    for (int64_t replica = 0; replica < model.layout.replicas; ++replica) {
      const int64_t rank = replica * model.layout.stages + stage;
      exchange.start(rank, 0.0, rank == 0 ? straggler : 1.0);
    }
  }
  queue.run();
  double latest = 0.0;
  for (int64_t rank = 0; rank < model.layout.ranks(); ++rank) {
    const int64_t stage = rank % model.layout.stages, replica = rank / model.layout.stages;
    const double updated =
        (rank == 0 ? straggler : 1.0) * model.update_seconds(stage, replica) + exchange.taken(rank);
    latest = std::max(
        latest, std::max(exchange.end(rank), updated) + (stage == 0 ? model.tied_seconds() : 0.0));
  }
  return latest;
}

}  // namespace

SimulatedStep simulated_step(const StepModel& model, double straggler) {
  Pipelines pipelines(model, straggler);
  pipelines.run();
  return {
      .pipeline = pipelines.computed(),
      .seconds = pipelines.summed() + model.agreement_seconds() + updated_by_all(model, straggler)};
}

}  // namespace cloze::forecast

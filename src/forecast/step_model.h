// A training step on many ranks: who computes what for how long, and who sends what to whom. The
// closed formula (step_time.h) and the simulation (step_simulation.h) both work on it.
//
// Gradients leave in buckets while the last micro-batch's backward pass goes on
// (train/ranks/gradient_exchange.h); those of pipelines after it, and after the first stage has
// what the last one adds to the gradients of parameters that both have. Each of R replicas sends
// every other one a share of the bucket, adds what it gets, and sends every other one its sums:
// a rank sends 2 (R-1)/R bytes for each byte. Sharded, the shares are the tensors that a replica
// owns, and sums stay there. What was updated with them is sent to all in the same buckets, while
// the update goes on: as many bytes, but not the same from each rank.
#pragma once

#include <cstdint>
#include <vector>

#include "forecast/network_rates.h"
#include "forecast/rank_layout.h"
#include "forecast/stage_costs.h"

namespace cloze::forecast {

// Gradients that travel together.
struct GradientBucket {
  double at = 0.0;    // when the last of them is finished, since sums began (StepModel::sums_lead)
  int64_t bytes = 0;  // of all
  std::vector<double> shares;     // bytes of each replica; even shares: of one
  std::vector<size_t> gradients;  // of which it has a part: StageCosts::gradients
};

// Updated parameters that travel together.
struct UpdatedBucket {
  std::vector<double> at;      // when each replica has updated its share, since the update began
  std::vector<double> shares;  // bytes of each replica
};

struct StepModel {
  RankLayout layout;
  std::vector<StageCosts> stages;
  NetworkRates network;

  // UserError when the ranks do not fit the network's hosts, or the tensors that they share.
  void require() const;
  // The buckets of a stage in the order in which they leave.
  std::vector<GradientBucket> buckets(int64_t stage) const;
  std::vector<UpdatedBucket> updated_buckets(int64_t stage) const;  // sharded
  // The time from when the stage's sums begin to the end of its last backward pass: that pass, and
  // 0 in a pipeline.
  double sums_lead(int64_t stage) const;
  // The update of the replica's own parameters, with the host's work.
  double update_seconds(int64_t stage, int64_t replica) const;
  // Replicas of one stage on the same host.
  int64_t replicas_on_host() const;
  // The bytes that travel for each byte of an f32 gradient that is summed.
  double travelling() const { return static_cast<double>(layout.gradient_bytes) / 4.0; }
  // Messages in which so many bytes travel from one rank to another.
  static double messages_of(double bytes);
  // The time of a message from a stage to its neighbour and, of what the first and the last stage
  // both have, from one to the other.
  double forward_seconds(int64_t stage) const;
  double backward_seconds(int64_t stage) const;
  double tied_seconds() const;
  // All ranks tell all others one number, along a tree.
  double agreement_seconds() const;
  // The replica that updates with each gradient of the stage (optim/optimizer.h).
  std::vector<int> owners(int64_t stage) const;
  // The share of all gradients that each replica owns, and the most that one does.
  std::vector<double> owned_shares(int64_t stage) const;
  double owned_share(int64_t stage) const;

 private:
  std::vector<double> norm_seconds(int64_t stage) const;
};

// The memory that ranks need to exchange messages: buckets on their way, and MPI's own memory.
int64_t message_bytes(const StepModel& model);

// The bytes that one rank of a stage sends in a step.
struct RankTraffic {
  double gradients = 0.0;   // sums over the replicas
  double parameters = 0.0;  // sharded: what the rank that owns most has updated
  double boundaries = 0.0;  // activations and their gradients, to the neighbours
  double tied = 0.0;        // parameters that another stage has too, or their gradients
  double total() const { return gradients + parameters + boundaries + tied; }
};
RankTraffic traffic_of(const StepModel& model, int64_t stage);

}  // namespace cloze::forecast

#include "forecast/step_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "comm/communicator.h"
#include "optim/optimizer.h"
#include "train/ranks/gradient_exchange.h"

namespace cloze::forecast {
namespace {

constexpr int64_t kBucketBytes = train::kBucketFloats * int64_t{sizeof(float)};

// Numbers of gradients, in the order in which their parameters are updated.
std::vector<size_t> update_order(const std::vector<FinishedGradient>& gradients) {
  std::vector<size_t> order(gradients.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](size_t i) { return gradients[i].number; });
  return order;
}

// The time of a message between a stage and the next.
double boundary_seconds(const NetworkRates& network, int64_t stage, double bytes) {
  const bool is_inside = network.host_of(stage) == network.host_of(stage + 1);
  return (is_inside ? network.inside_host : *network.between_hosts).seconds(1.0, bytes);
}

}  // namespace

void StepModel::require() const {
  network.require(layout.ranks());
  for (const StageCosts& costs : stages) {
    if (!layout.is_sharded || layout.replicas <= std::ssize(costs.gradients)) continue;
    throw_user_error(
        "replicated_tensor_sharding divides the {} parameters of a stage of {} layers, and there "
        "are "
        "{} replicas; lower `replicas` or pipeline_stages",
        costs.gradients.size(), costs.layers, layout.replicas);
  }
  const int64_t host = network.ranks_per_host, stages_of_replica = layout.stages;
  if (layout.ranks() <= host || host % stages_of_replica == 0 || stages_of_replica % host == 0) {
    return;
  }
  throw_user_error(
      "{} has {} ranks per host, and pipeline_stages is {}; choose a number of stages that divides "
      "the ranks per host, or is a multiple of them",
      network.network, host, stages_of_replica);
}

std::vector<GradientBucket> StepModel::buckets(int64_t stage) const {
  const std::vector<int> owner = owners(stage);
  const auto replicas = static_cast<size_t>(layout.replicas);
  const std::vector<FinishedGradient>& gradients = stages[static_cast<size_t>(stage)].gradients;
  std::vector<GradientBucket> buckets;
  for (size_t i = 0; i < gradients.size(); ++i) {
    for (int64_t rest = gradients[i].bytes; rest > 0;) {
      if (buckets.empty() || buckets.back().bytes == kBucketBytes) {
        buckets.push_back({.shares = std::vector<double>(layout.is_sharded ? replicas : 1)});
      }
      GradientBucket& bucket = buckets.back();
      const int64_t bytes = std::min(rest, kBucketBytes - bucket.bytes);
      bucket.at = sums_lead(stage) == 0.0 ? 0.0 : gradients[i].at;
      bucket.bytes += bytes;
      bucket.gradients.push_back(i);
      rest -= bytes;
      if (layout.is_sharded) {
        bucket.shares[static_cast<size_t>(owner[i])] += static_cast<double>(bytes);
      } else {
        bucket.shares[0] += static_cast<double>(bytes) / static_cast<double>(replicas);
      }
    }
  }
  return buckets;
}

// A replica's part of a bucket is ready once the replica has made all its updates up to that point.
std::vector<UpdatedBucket> StepModel::updated_buckets(int64_t stage) const {
  const StageCosts& costs = stages[static_cast<size_t>(stage)];
  const std::vector<int> owner = owners(stage);
  std::vector<double> clock = norm_seconds(stage);  // by replica
  std::vector<double> updated_at(owner.size());     // by gradient
  for (const size_t i : update_order(costs.gradients)) {
    updated_at[i] = clock[static_cast<size_t>(owner[i])] += costs.gradients[i].update;
  }
  std::vector<GradientBucket> all = buckets(stage);
  std::ranges::stable_sort(all, {}, [&](const GradientBucket& bucket) {
    int32_t last = 0;
    for (const size_t i : bucket.gradients) last = std::max(last, costs.gradients[i].number);
    return last;
  });
  std::vector<double> at = norm_seconds(stage);
  std::vector<UpdatedBucket> updated;
  for (GradientBucket& bucket : all) {
    for (const size_t i : bucket.gradients) {
      double& ready = at[static_cast<size_t>(owner[i])];
      ready = std::max(ready, updated_at[i]);
    }
    updated.push_back({.at = at, .shares = std::move(bucket.shares)});
  }
  return updated;
}

// The time of each replica's part of the norm.
std::vector<double> StepModel::norm_seconds(int64_t stage) const {
  const double norm = stages[static_cast<size_t>(stage)].norm;
  std::vector<double> seconds = owned_shares(stage);
  for (double& share : seconds) share *= norm;
  return seconds;
}

double StepModel::sums_lead(int64_t stage) const {
  return layout.stages == 1 ? stages[static_cast<size_t>(stage)].backward : 0.0;
}

double StepModel::update_seconds(int64_t stage, int64_t replica) const {
  const StageCosts& costs = stages[static_cast<size_t>(stage)];
  if (!layout.is_sharded) return costs.update() + costs.host;
  const std::vector<int> owner = owners(stage);
  double seconds = norm_seconds(stage)[static_cast<size_t>(replica)];
  for (size_t i = 0; i < owner.size(); ++i) {
    if (owner[i] == replica) seconds += costs.gradients[i].update;
  }
  return seconds + costs.host;
}

int64_t StepModel::replicas_on_host() const {
  return std::clamp<int64_t>(network.ranks_per_host / layout.stages, 1, layout.replicas);
}

double StepModel::messages_of(double bytes) {
  return std::ceil(bytes / static_cast<double>(comm::kSliceFloats * int64_t{sizeof(float)}));
}

double StepModel::forward_seconds(int64_t stage) const {
  if (stage + 1 == layout.stages) return 0.0;
  return boundary_seconds(network, stage,
                          static_cast<double>(stages[static_cast<size_t>(stage)].forward_bytes));
}

double StepModel::backward_seconds(int64_t stage) const {
  if (stage == 0) return 0.0;
  return boundary_seconds(network, stage - 1,
                          static_cast<double>(stages[static_cast<size_t>(stage)].backward_bytes));
}

double StepModel::tied_seconds() const {
  if (layout.stages == 1 || stages.front().tied_bytes == 0) return 0.0;
  const auto bytes = static_cast<double>(stages.front().tied_bytes);
  return network.slowest(layout.stages).seconds(messages_of(bytes), bytes);
}

double StepModel::agreement_seconds() const {
  if (layout.ranks() == 1) return 0.0;
  const double rounds = std::ceil(std::log2(static_cast<double>(layout.ranks())));
  return 2.0 * rounds * network.slowest(layout.ranks()).latency;
}

std::vector<int> StepModel::owners(int64_t stage) const {
  const std::vector<FinishedGradient>& gradients = stages[static_cast<size_t>(stage)].gradients;
  const std::vector<size_t> order = update_order(gradients);
  std::vector<int64_t> bytes;
  for (const size_t i : order) bytes.push_back(gradients[i].bytes);
  const std::vector<int> in_order = optim::shared_out(bytes, static_cast<int>(layout.replicas));
  std::vector<int> owner(gradients.size());
  for (size_t i = 0; i < order.size(); ++i) owner[order[i]] = in_order[i];
  return owner;
}

std::vector<double> StepModel::owned_shares(int64_t stage) const {
  if (!layout.is_sharded) return std::vector<double>(static_cast<size_t>(layout.replicas), 1.0);
  const std::vector<FinishedGradient>& gradients = stages[static_cast<size_t>(stage)].gradients;
  const std::vector<int> owner = owners(stage);
  std::vector<double> shares(static_cast<size_t>(layout.replicas));
  for (size_t i = 0; i < gradients.size(); ++i) {
    shares[static_cast<size_t>(owner[i])] += static_cast<double>(gradients[i].bytes);
  }
  const double all = std::reduce(shares.begin(), shares.end());
  for (double& share : shares) share /= all;
  return shares;
}

double StepModel::owned_share(int64_t stage) const { return std::ranges::max(owned_shares(stage)); }

int64_t message_bytes(const StepModel& model) {
  constexpr int64_t kMpiBytes = 7 << 20;  // measured: Open MPI 4.1, two ranks of a host
  if (model.layout.ranks() == 1) return 0;
  int64_t gradients = 0;
  for (const StageCosts& costs : model.stages)
    gradients = std::max(gradients, costs.gradient_bytes);
  return kMpiBytes + train::message_bytes(model.layout.stages, model.layout.replicas, gradients);
}

RankTraffic traffic_of(const StepModel& model, int64_t stage) {
  const StageCosts& costs = model.stages[static_cast<size_t>(stage)];
  const auto replicas = static_cast<double>(model.layout.replicas);
  const double others = (replicas - 1.0) / replicas;
  const double to_next = stage + 1 < model.layout.stages ? 1.0 : 0.0;
  const double to_previous = stage > 0 ? 1.0 : 0.0;
  RankTraffic traffic;
  double all = 0.0;
  for (const FinishedGradient& gradient : costs.gradients) {
    all += static_cast<double>(gradient.bytes);
  }
  traffic.gradients = (model.layout.is_sharded ? 1.0 : 2.0) * model.travelling() * others * all;
  if (model.layout.is_sharded) {
    traffic.parameters = (replicas - 1.0) * model.owned_share(stage) * all;
  }
  traffic.boundaries = static_cast<double>(model.layout.micro_batches) *
                       (to_next * static_cast<double>(costs.forward_bytes) +
                        to_previous * static_cast<double>(costs.backward_bytes));
  if (model.layout.stages > 1) traffic.tied = static_cast<double>(costs.tied_bytes);
  return traffic;
}

}  // namespace cloze::forecast

#include "forecast/step_time.h"

#include <algorithm>
#include <map>

namespace cloze::forecast {
namespace {

// The seconds of one stage: computing, including its own part of the messages, and the rest of the
// messages.
struct Pass {
  double forward = 0.0, backward = 0.0;
  double messages = 0.0;  // to the next stage and back, while both compute
};

std::vector<Pass> passes_of(const StepModel& model) {
  std::vector<Pass> passes;
  const double overlap = model.network.overlap;
  for (int64_t s = 0; s < model.layout.stages; ++s) {
    const StageCosts& costs = model.stages[static_cast<size_t>(s)];
    Pass& pass = passes.emplace_back();
    const double there = model.forward_seconds(s), back = model.backward_seconds(s);
    pass.forward = costs.forward + (1.0 - overlap) * there;
    pass.backward = costs.backward + (1.0 - overlap) * back;
    pass.messages += overlap * there;
    if (s > 0) passes[static_cast<size_t>(s - 1)].messages += overlap * back;
  }
  return passes;
}

// P of the header.
double period(const std::vector<Pass>& passes) {
  double longest = 0.0;
  for (size_t first = 0; first < passes.size(); ++first) {
    double sum = 0.0;
    for (size_t last = first; last < passes.size(); ++last) {
      sum += passes[last].forward + passes[last].backward;
      longest = std::max(longest, sum / static_cast<double>(last - first + 1));
      sum += passes[last].messages;
    }
  }
  return longest;
}

// G of the header.
double grouped_period(const std::vector<Pass>& passes) {
  double forward = 0.0, backward = 0.0;
  for (size_t stage = 0; stage + 1 < passes.size(); ++stage) {
    forward = std::max(forward, passes[stage].forward);
    backward = std::max(backward, passes[stage].backward);
  }
  return std::max(forward + backward, passes.back().forward + passes.back().backward);
}

double pipeline_seconds(const RankLayout& layout, const std::vector<Pass>& passes) {
  double once = 0.0;
  for (const Pass& pass : passes) once += pass.forward + pass.backward + pass.messages;
  const auto others = static_cast<double>(layout.micro_batches - 1);
  switch (layout.schedule) {
    case PipelineSchedule::kGrouped:
      return once + others * grouped_period(passes);
    case PipelineSchedule::kInterleaved:
      return once + others * period(passes);
    case PipelineSchedule::kSequential:
      return once + others * once;
  }
  return once;
}

// A rank sends `bytes` to each other replica of its stage. `sharing`: ranks of its host that send
// at the same time.
double round_seconds(const StepModel& model, double bytes, int64_t sharing) {
  const auto inside = static_cast<double>(model.replicas_on_host() - 1);
  const double outside = static_cast<double>(model.layout.replicas) - inside - 1.0;
  const double messages = StepModel::messages_of(bytes);
  const Link& own = model.network.inside_host;
  const double seconds = own.sending(inside * messages, inside * bytes);
  if (outside == 0.0) return seconds + own.latency;
  const Link& link = *model.network.between_hosts;
  const double alone = link.sending(outside * messages, outside * bytes);
  // The host's link is idle until the messages to the first of the other hosts are made.
  const double together = (inside + 1.0) * messages * link.message +
                          static_cast<double>(sharing) * outside * bytes / link.rate;
  return seconds + std::max(alone, together) + link.latency;
}

// The time when the sums of all buckets have arrived, one bucket after another, counted from the
// start of the sums.
template <typename SecondsOf>
double arrival(const std::vector<GradientBucket>& buckets, double overlap,
               const SecondsOf& seconds_of) {
  double arrived = 0.0, taken_from_computing = 0.0;
  for (const GradientBucket& bucket : buckets) {
    const double seconds = seconds_of(bucket);
    if (seconds == 0.0) continue;
    arrived = std::max(arrived, bucket.at + taken_from_computing) + seconds;
    taken_from_computing += (1.0 - overlap) * seconds;
  }
  return arrived;
}

// After the stage's last backward pass.
double gradients_after(const StepModel& model, int64_t stage) {
  if (model.layout.replicas == 1) return 0.0;
  const auto replicas = static_cast<double>(model.layout.replicas);
  const double rounds = model.layout.is_sharded ? 1.0 : 2.0;
  const double overlap = model.network.overlap;
  const std::vector<GradientBucket> buckets = model.buckets(stage);
  const auto sent = [&](const GradientBucket& bucket) {
    const double share = model.travelling() * static_cast<double>(bucket.bytes) / replicas;
    return rounds * round_seconds(model, share, model.replicas_on_host());
  };
  double taken = 0.0;
  for (const GradientBucket& bucket : buckets) taken += (1.0 - overlap) * sent(bucket);
  const double lead = model.sums_lead(stage);
  double after = std::max(arrival(buckets, overlap, sent) - lead, taken);
  // With sharding, the owner of many parameters receives many bytes.
  for (size_t owner = 0; model.layout.is_sharded && owner < buckets.front().shares.size();
       ++owner) {
    const auto received = [&](const GradientBucket& bucket) {
      const double share = model.travelling() * bucket.shares[owner];
      return share == 0.0 ? 0.0 : round_seconds(model, share, 1);
    };
    after = std::max(after, arrival(buckets, 1.0, received) - lead);
  }
  return after;
}

// The time that the link of a host sends its replicas' sums of a stage.
double link_seconds(const StepModel& model, int64_t stage) {
  const int64_t outside = model.layout.replicas - model.replicas_on_host();
  if (outside == 0) return 0.0;
  const double all = traffic_of(model, stage).gradients * static_cast<double>(outside) /
                     static_cast<double>(model.layout.replicas - 1);
  return static_cast<double>(model.replicas_on_host()) * all / model.network.between_hosts->rate;
}

// Counted from the end of the pipeline, which is the end of the first stage's last backward pass.
// The last stage begins its sums first; those of the others follow on the same link.
double gradient_seconds(const StepModel& model, const std::vector<Pass>& passes) {
  double before = 0.0;  // the end of the pipeline
  double latest = 0.0, on_link = 0.0;
  for (int64_t stage = 0; stage < model.layout.stages; ++stage) {
    const StageCosts& costs = model.stages[static_cast<size_t>(stage)];
    const bool is_on_same_host =
        stage > 0 && model.network.host_of(stage) == model.network.host_of(stage - 1);
    on_link = (is_on_same_host ? on_link : 0.0) + link_seconds(model, stage);
    const double end = (stage == 0 ? model.tied_seconds() : 0.0) - before;
    latest = std::max(latest, end + gradients_after(model, stage));
    if (!costs.gradients.empty()) {
      const double begin = model.buckets(stage).front().at - model.sums_lead(stage) - before;
      latest = std::max(latest, begin + on_link);
    }
    before += passes[static_cast<size_t>(stage)].backward;
    before += model.network.overlap *
              (stage + 1 < model.layout.stages ? model.backward_seconds(stage + 1) : 0.0);
  }
  return latest + model.agreement_seconds();
}

// Each replica's share of the bucket, in seconds.
std::vector<double> sending_shares(const StepModel& model, const UpdatedBucket& bucket) {
  std::vector<double> seconds;
  for (const double share : bucket.shares) {
    seconds.push_back(share == 0.0 ? 0.0 : round_seconds(model, share, 1));
  }
  return seconds;
}

// The time that the link of each host takes for the shares of its replicas.
std::map<int64_t, double> link_shares(const StepModel& model, int64_t stage,
                                      const UpdatedBucket& bucket) {
  const auto outside = static_cast<double>(model.layout.replicas - model.replicas_on_host());
  std::map<int64_t, double> seconds;
  for (size_t replica = 0; outside > 0.0 && replica < bucket.shares.size(); ++replica) {
    const int64_t rank = static_cast<int64_t>(replica) * model.layout.stages + stage;
    seconds[model.network.host_of(rank)] +=
        outside * bucket.shares[replica] / model.network.between_hosts->rate;
  }
  return seconds;
}

// Since the update began.
struct StageUpdate {
  double begun = 0.0;                 // the first bucket leaves
  double arrived = 0.0;               // the last one has arrived
  double updated = 0.0;               // all have computed, including time lost to sends
  std::map<int64_t, double> on_link;  // seconds of each host's link
};

// Bucket by bucket: each leaves when all have updated it, and takes until the rank that owns most
// of it has sent it.
StageUpdate stage_update(const StepModel& model, int64_t stage) {
  const auto replicas = static_cast<size_t>(model.layout.replicas);
  StageUpdate update;
  std::vector<double> taken(replicas);  // of computing, by sending
  if (model.layout.is_sharded && replicas > 1) {
    const std::vector<UpdatedBucket> buckets = model.updated_buckets(stage);
    update.begun = std::ranges::min(buckets.front().at);
    for (const UpdatedBucket& bucket : buckets) {
      const std::vector<double> sending = sending_shares(model, bucket);
      double seconds = std::ranges::max(sending);
      for (const auto& [host, on_link] : link_shares(model, stage, bucket)) {
        update.on_link[host] += on_link;
        seconds = std::max(seconds, on_link);
      }
      double begin = update.arrived;
      for (size_t i = 0; i < replicas; ++i) {
        if (sending[i] > 0.0) begin = std::max(begin, bucket.at[i] + taken[i]);
        taken[i] += (1.0 - model.network.overlap) * sending[i];
      }
      update.arrived = begin + seconds;
    }
  }
  for (size_t i = 0; i < replicas; ++i) {
    const double computed = model.update_seconds(stage, static_cast<int64_t>(i));
    update.updated = std::max(update.updated, computed + taken[i]);
  }
  return update;
}

// The time from the start of the update until all have all parameters; no sooner than the link of a
// host has sent what its ranks of all stages own. The first stage sends the parameters that it
// shares with the last stage.
double updated_seconds(const StepModel& model) {
  double latest = 0.0, begun = 0.0;
  std::map<int64_t, double> on_link;
  for (int64_t stage = 0; stage < model.layout.stages; ++stage) {
    const StageUpdate update = stage_update(model, stage);
    const double end = std::max(update.updated, update.arrived);
    latest = std::max(latest, end + (stage == 0 ? model.tied_seconds() : 0.0));
    begun = stage == 0 ? update.begun : std::min(begun, update.begun);
    for (const auto& [host, seconds] : update.on_link) on_link[host] += seconds;
  }
  for (const auto& [host, seconds] : on_link) latest = std::max(latest, begun + seconds);
  return latest;
}

}  // namespace

StepTime step_time(const StepModel& model) {
  const std::vector<Pass> passes = passes_of(model);
  StepTime time;
  for (int64_t stage = 0; stage < model.layout.stages; ++stage) {
    const StageCosts& costs = model.stages[static_cast<size_t>(stage)];
    time.computing += (costs.forward + costs.backward) *
                      static_cast<double>(model.layout.micro_batches) /
                      static_cast<double>(model.layout.stages);
    for (int64_t replica = 0; replica < model.layout.replicas; ++replica) {
      time.update = std::max(time.update, model.update_seconds(stage, replica));
    }
  }
  time.bubble = pipeline_seconds(model.layout, passes) - time.computing;
  time.gradients = gradient_seconds(model, passes);
  time.parameters = updated_seconds(model) - time.update;
  return time;
}

}  // namespace cloze::forecast

// The simulated sums of the replicas: for each stage a sequence of rounds, in each of which every
// replica sends something to every other one. A rank begins a round when it has what it sends and
// has heard from all others in the round before.
#pragma once

#include <cstdint>
#include <vector>

#include "forecast/event_queue.h"
#include "forecast/step_model.h"

namespace cloze::forecast {

struct ExchangeRound {
  // Seconds after the rank's start until it has what it sends. By replica; a single value is for
  // all.
  std::vector<double> ready = {0.0};
  // The size of each message: by the replica that sends it or, if is_to_owner, by the one that gets
  // it; a single value is for all. Where it is 0, nothing is sent or waited for.
  std::vector<double> bytes;
  bool is_to_owner = false;
};

class Exchange {
 public:
  // rounds: of each stage. Ends of rounds are events of this queue.
  Exchange(const StepModel& model, EventQueue& queue,
           std::vector<std::vector<ExchangeRound>> rounds);

  // Starts a rank's clock; its times in `ready` are longer by the factor `slowness`.
  void start(int64_t rank, double time, double slowness = 1.0);
  // The time when the rank had heard everything and had sent everything.
  double end(int64_t rank) const { return ranks_[static_cast<size_t>(rank)].end; }
  // The computing time that its sends took.
  double taken(int64_t rank) const { return ranks_[static_cast<size_t>(rank)].taken; }

 private:
  struct Rank {
    double start = 0.0, end = 0.0, taken = 0.0, slowness = 1.0;
    size_t round = 0;
    int64_t hosts_served = 0;    // in the round
    std::vector<int64_t> heard;  // by round: of how many replicas
    double receives_from = 0.0;  // when its link inside the host is free
  };
  struct Replicas {
    int64_t begin = 0, end = 0;
    bool is_own_host = false;
  };
  struct Host {
    double sends_from = 0.0, receives_from = 0.0;  // when its link is free, in each direction
  };

  const std::vector<ExchangeRound>& rounds_of(int64_t rank) const;
  double ready_after(int64_t rank) const;
  int64_t rank_of(int64_t replica, int64_t rank) const;  // on the same stage
  double bytes_to(int64_t rank, int64_t replica) const;
  int64_t expected(int64_t rank) const;
  void begin_round(int64_t rank, double time);
  Replicas next_host(int64_t rank) const;
  void send_to_next_host(int64_t rank, double time);
  double send_inside(int64_t rank, const Replicas& replicas, double time);
  double send_outside(int64_t rank, const Replicas& replicas, double time);
  void deliver(int64_t rank, int64_t replica, size_t round, double time);
  void advance(int64_t rank, double time);

  const StepModel& model_;
  EventQueue& queue_;
  std::vector<std::vector<ExchangeRound>> rounds_;
  std::vector<std::vector<int64_t>> senders_;  // by stage and round: how many send something
  std::vector<Rank> ranks_;
  std::vector<Host> links_;
  int64_t on_host_, hosts_;  // replicas of a stage on a host, and hosts that have some
};

}  // namespace cloze::forecast

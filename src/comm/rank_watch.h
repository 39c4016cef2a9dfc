// Judges the other ranks by their heartbeats: silent, stalled, slow. No sockets and no clock of its
// own.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cloze::comm {

// The state that a rank sends several times a second.
struct RankState {
  std::string phase = "starting";
  int64_t step = 0;               // counted from 1; 0: before the first
  int64_t entered = 0;            // phases so far: while it grows, work goes on
  bool waits_for_others = false;  // not at work itself

  bool operator==(const RankState&) const = default;
};
// "17 203 0 computing": step, phases, whether it waits, phase. Nothing for any other text.
std::string to_line(const RankState& state);
std::optional<RankState> state_from(const std::string& line);

// Five beats (comm/heartbeat.cc): a shorter silence may be that of a rank whose beat is late.
inline constexpr double kShortestSilence = 1.0;

// Seconds; 0: never.
struct WatchBounds {
  double silence =
      60.0;  // of a rank that is stopped, or cannot be reached: kShortestSilence or more
  double stall = 1800.0;  // in one phase after the first step began
};

class RankWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // One name a rank: "rank 2 (host a, process 17)". All count as heard from at `now`.
  RankWatch(std::vector<std::string> names, WatchBounds bounds, Time now);

  void hear(int rank, RankState state, Time now);
  // The rank ends as it should, or is not watched from here: nothing more is expected of it.
  void leave(int rank);
  bool is_expected(int rank) const { return ranks_[static_cast<size_t>(rank)].is_expected; }
  // No rank could be heard until now, because this process itself stood still.
  void excuse_silence(Time now);

  // "rank 2 (host a, process 17) has died; it was in step 17, computing"
  std::string death_of(int rank) const;
  // Says what is wrong with a rank that is silent, or makes no progress, for too long.
  std::optional<std::string> find_fault(Time now) const;
  // A sentence on each rank that has been at work for more than 10 times the median of the last
  // steps (and 5 s) while others wait for it; once in a phase.
  std::vector<std::string> new_stragglers(Time now);

 private:
  struct Rank {
    std::string name;
    RankState state;
    Time heard, progressed;
    bool is_expected = true;
    int64_t flagged = -1;  // RankState::entered
  };

  void time_step(int64_t step, Time now);
  double median_step() const;
  std::string where(const Rank& rank) const;
  std::optional<std::string> find_silence(Time now) const;
  std::optional<std::string> find_stall(Time now) const;

  std::vector<Rank> ranks_;
  WatchBounds bounds_;
  std::vector<double> step_seconds_;  // the last ones
  int64_t newest_step_ = 0;
  Time newest_step_began_;
};

}  // namespace cloze::comm

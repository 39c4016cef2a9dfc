#include "comm/rank_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/seconds.h"

namespace cloze::comm {
namespace {

constexpr size_t kTimedSteps = 31;
constexpr size_t kLeastTimedSteps = 3;  // earlier steps may include one-time preparation
constexpr double kStragglerSteps = 10.0;
constexpr double kStragglerSeconds = 5.0;

}  // namespace

std::string to_line(const RankState& state) {
  return fmt::format("{} {} {} {}", state.step, state.entered, state.waits_for_others ? 1 : 0,
                     state.phase);
}

std::optional<RankState> state_from(const std::string& line) {
  std::istringstream fields(line);
  RankState state;
  if (!(fields >> state.step >> state.entered >> state.waits_for_others)) return std::nullopt;
  if (!std::getline(fields >> std::ws, state.phase)) return std::nullopt;
  return state;
}

RankWatch::RankWatch(std::vector<std::string> names, WatchBounds bounds, Time now)
    : bounds_(bounds), newest_step_began_(now) {
  for (std::string& name : names) {
    ranks_.push_back({.name = std::move(name), .state = {}, .heard = now, .progressed = now});
  }
}

void RankWatch::hear(int rank, RankState state, Time now) {
  Rank& known = ranks_[static_cast<size_t>(rank)];
  known.heard = now;
  if (state.entered != known.state.entered) known.progressed = now;
  known.state = std::move(state);
  time_step(known.state.step, now);
}

void RankWatch::time_step(int64_t step, Time now) {
  if (step <= newest_step_) return;
  if (newest_step_ > 0) {
    const double seconds = seconds_between(newest_step_began_, now);
    step_seconds_.push_back(seconds / static_cast<double>(step - newest_step_));
    if (step_seconds_.size() > kTimedSteps) step_seconds_.erase(step_seconds_.begin());
  }
  newest_step_ = step;
  newest_step_began_ = now;
}

double RankWatch::median_step() const {
  std::vector<double> sorted = step_seconds_;
  std::ranges::nth_element(sorted, sorted.begin() + std::ssize(sorted) / 2);
  return sorted[sorted.size() / 2];
}

void RankWatch::leave(int rank) { ranks_[static_cast<size_t>(rank)].is_expected = false; }

void RankWatch::excuse_silence(Time now) {
  for (Rank& rank : ranks_) rank.heard = rank.progressed = now;
}

std::string RankWatch::where(const Rank& rank) const {
  if (rank.state.step == 0) return rank.state.phase;
  return fmt::format("in step {}, {}", rank.state.step, rank.state.phase);
}

std::string RankWatch::death_of(int rank) const {
  const Rank& known = ranks_[static_cast<size_t>(rank)];
  return fmt::format("{} has died; it was {}", known.name, where(known));
}

std::optional<std::string> RankWatch::find_fault(Time now) const {
  const std::optional<std::string> silence = find_silence(now);
  return silence ? silence : find_stall(now);
}

std::optional<std::string> RankWatch::find_silence(Time now) const {
  if (bounds_.silence <= 0.0) return std::nullopt;
  for (const Rank& rank : ranks_) {
    const double seconds = seconds_between(rank.heard, now);
    if (!rank.is_expected || seconds <= bounds_.silence) continue;
    return fmt::format(
        "{} has been silent for {:.1f} s: it is stopped, or cannot be reached; it was {}",
        rank.name, seconds, where(rank));
  }
  return std::nullopt;
}

// Names a rank that works rather than one that waits for it.
std::optional<std::string> RankWatch::find_stall(Time now) const {
  if (bounds_.stall <= 0.0) return std::nullopt;
  const Rank* stalled = nullptr;
  for (const Rank& rank : ranks_) {
    if (!rank.is_expected || rank.state.step == 0) continue;
    if (seconds_between(rank.progressed, now) <= bounds_.stall) {
      if (!rank.state.waits_for_others) return std::nullopt;  // others may wait for it
      continue;
    }
    const bool is_worse =
        stalled == nullptr || (stalled->state.waits_for_others && !rank.state.waits_for_others);
    if (is_worse) stalled = &rank;
  }
  if (stalled == nullptr) return std::nullopt;
  return fmt::format("{} has made no progress for {:.1f} s; it is {}", stalled->name,
                     seconds_between(stalled->progressed, now), where(*stalled));
}

std::vector<std::string> RankWatch::new_stragglers(Time now) {
  const bool somebody_waits = std::ranges::any_of(
      ranks_, [](const Rank& rank) { return rank.is_expected && rank.state.waits_for_others; });
  if (!somebody_waits || step_seconds_.size() < kLeastTimedSteps) return {};
  const double bound = std::max(kStragglerSeconds, kStragglerSteps * median_step());
  std::vector<std::string> found;
  for (Rank& rank : ranks_) {
    const double seconds = seconds_between(rank.progressed, now);
    if (!rank.is_expected || rank.state.waits_for_others || seconds <= bound) continue;
    if (rank.flagged == rank.state.entered) continue;
    rank.flagged = rank.state.entered;
    found.push_back(fmt::format(
        "{} keeps the others waiting: it has been {} for {:.1f} s; a step takes {:.2f} s",
        rank.name, where(rank), seconds, median_step()));
  }
  return found;
}

}  // namespace cloze::comm

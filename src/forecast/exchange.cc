#include "forecast/exchange.h"

#include <algorithm>

#include "base/division.h"

namespace cloze::forecast {

Exchange::Exchange(const StepModel& model, EventQueue& queue,
                   std::vector<std::vector<ExchangeRound>> rounds)
    : model_(model),
      queue_(queue),
      rounds_(std::move(rounds)),
      ranks_(static_cast<size_t>(model.layout.ranks())),
      links_(ranks_.size()),
      on_host_(model.replicas_on_host()),
      hosts_(divide_up(model.layout.replicas, on_host_)) {
  for (const std::vector<ExchangeRound>& of_stage : rounds_) {
    std::vector<int64_t>& senders = senders_.emplace_back();
    for (const ExchangeRound& round : of_stage) {
      const bool is_even = round.bytes.size() == 1 || round.is_to_owner;
      senders.push_back(is_even ? model.layout.replicas
                                : std::ssize(round.bytes) - std::ranges::count(round.bytes, 0.0));
    }
  }
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    ranks_[rank].heard.resize(rounds_of(static_cast<int64_t>(rank)).size());
  }
}

const std::vector<ExchangeRound>& Exchange::rounds_of(int64_t rank) const {
  return rounds_[static_cast<size_t>(rank % model_.layout.stages)];
}

int64_t Exchange::rank_of(int64_t replica, int64_t rank) const {
  return replica * model_.layout.stages + rank % model_.layout.stages;
}

// The time when the rank's part of its current round is ready.
double Exchange::ready_after(int64_t rank) const {
  const std::vector<double>& ready = rounds_of(rank)[ranks_[static_cast<size_t>(rank)].round].ready;
  return ready.size() == 1 ? ready.front()
                           : ready[static_cast<size_t>(rank / model_.layout.stages)];
}

// The bytes that the rank sends to the replica in its current round.
double Exchange::bytes_to(int64_t rank, int64_t replica) const {
  const int64_t own = rank / model_.layout.stages;
  const ExchangeRound& round = rounds_of(rank)[ranks_[static_cast<size_t>(rank)].round];
  if (replica == own) return 0.0;
  if (round.bytes.size() == 1) return round.bytes.front();
  return round.bytes[static_cast<size_t>(round.is_to_owner ? replica : own)];
}

// Counts the replicas that send the rank something in its round.
int64_t Exchange::expected(int64_t rank) const {
  const size_t number = ranks_[static_cast<size_t>(rank)].round;
  const ExchangeRound& round = rounds_of(rank)[number];
  const auto own = static_cast<size_t>(rank / model_.layout.stages);
  const bool has_own = round.bytes[round.bytes.size() == 1 ? 0 : own] > 0.0;
  if (round.is_to_owner) return has_own ? model_.layout.replicas - 1 : 0;
  return senders_[static_cast<size_t>(rank % model_.layout.stages)][number] - (has_own ? 1 : 0);
}

void Exchange::start(int64_t rank, double time, double slowness) {
  Rank& state = ranks_[static_cast<size_t>(rank)];
  state.start = state.end = time;
  state.slowness = slowness;
  if (!rounds_of(rank).empty()) begin_round(rank, time);
}

void Exchange::begin_round(int64_t rank, double time) {
  Rank& state = ranks_[static_cast<size_t>(rank)];
  const double ready = state.start + state.taken + state.slowness * ready_after(rank);
  state.hosts_served = 0;
  queue_.add(std::max(time, ready), [this, rank](double now) { send_to_next_host(rank, now); });
}

// The replicas of a host: the rank's own first, then those of the hosts after it.
Exchange::Replicas Exchange::next_host(int64_t rank) const {
  const int64_t own = rank / model_.layout.stages / on_host_;
  const int64_t host = (own + ranks_[static_cast<size_t>(rank)].hosts_served) % hosts_;
  const int64_t end = std::min((host + 1) * on_host_, model_.layout.replicas);
  return {.begin = host * on_host_, .end = end, .is_own_host = host == own};
}

void Exchange::send_to_next_host(int64_t rank, double time) {
  Rank& state = ranks_[static_cast<size_t>(rank)];
  for (; state.hosts_served < hosts_; ++state.hosts_served) {
    const Replicas replicas = next_host(rank);
    const double sent = replicas.is_own_host ? send_inside(rank, replicas, time)
                                             : send_outside(rank, replicas, time);
    if (sent == time) continue;
    state.taken += (1.0 - model_.network.overlap) * (sent - time);
    queue_.add(sent, [this, rank](double now) {
      ++ranks_[static_cast<size_t>(rank)].hosts_served;
      send_to_next_host(rank, now);
    });
    return;
  }
  advance(rank, time);
}

// Each of the receivers has a link of its own. Returns when all is sent.
double Exchange::send_inside(int64_t rank, const Replicas& replicas, double time) {
  const Link& link = model_.network.inside_host;
  const size_t round = ranks_[static_cast<size_t>(rank)].round;
  for (int64_t replica = replicas.begin; replica < replicas.end; ++replica) {
    const double bytes = bytes_to(rank, replica);
    if (bytes == 0.0) continue;
    const double seconds = link.sending(StepModel::messages_of(bytes), bytes);
    double& receives_from = ranks_[static_cast<size_t>(rank_of(replica, rank))].receives_from;
    receives_from = std::max(receives_from, time) + seconds;
    time += seconds;
    queue_.add(std::max(time, receives_from) + link.latency,
               [this, rank, replica, round](double now) { deliver(rank, replica, round, now); });
  }
  return time;
}

// Both hosts have one link for all their ranks.
double Exchange::send_outside(int64_t rank, const Replicas& replicas, double time) {
  const Link& link = *model_.network.between_hosts;
  double bytes = 0.0, messages = 0.0;
  for (int64_t replica = replicas.begin; replica < replicas.end; ++replica) {
    bytes += bytes_to(rank, replica);
    messages += StepModel::messages_of(bytes_to(rank, replica));
  }
  if (bytes == 0.0) return time;
  Host& own = links_[static_cast<size_t>(model_.network.host_of(rank))];
  Host& target = links_[static_cast<size_t>(model_.network.host_of(rank_of(replicas.begin, rank)))];
  const double begin = std::max(time + messages * link.message, own.sends_from);
  own.sends_from = begin + bytes / link.rate;
  target.receives_from = std::max(target.receives_from, begin) + bytes / link.rate;
  const double arrived = std::max(own.sends_from, target.receives_from) + link.latency;
  const size_t round = ranks_[static_cast<size_t>(rank)].round;
  std::vector<int64_t> receivers;
  for (int64_t replica = replicas.begin; replica < replicas.end; ++replica) {
    if (bytes_to(rank, replica) > 0.0) receivers.push_back(replica);
  }
  queue_.add(arrived, [this, rank, round, receivers](double now) {
    for (const int64_t replica : receivers) deliver(rank, replica, round, now);
  });
  return own.sends_from;
}

void Exchange::deliver(int64_t rank, int64_t replica, size_t round, double time) {
  const int64_t receiver = rank_of(replica, rank);
  ++ranks_[static_cast<size_t>(receiver)].heard[round];
  advance(receiver, time);
}

// Goes on to the next round when this one is over.
void Exchange::advance(int64_t rank, double time) {
  Rank& state = ranks_[static_cast<size_t>(rank)];
  const auto& rounds = rounds_of(rank);
  if (state.round == rounds.size() || state.hosts_served < hosts_) return;
  if (state.heard[state.round] < expected(rank)) return;
  state.end = time;
  if (++state.round < rounds.size()) begin_round(rank, time);
}

}  // namespace cloze::forecast

// Measures how fast ranks exchange messages, and prints a network file for `cloze plan
// --network-file` (src/forecast/network_rates.h): all on one host, or one on each of several.
//
//   mpirun -n 2 build/release/bin/network_bench > network.json
//
// latency_us is half of what a short message takes to another rank and back, message_us is what
// each of many short, unanswered ones takes, and the rate is that of sums of gradients, additions
// included. Each is the best of several: other programs slow some of them down.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <vector>

#include "comm/world.h"
#include "formats/json.h"
#include "platform/process.h"
#include "platform/processor.h"

namespace {

using cloze::comm::Communicator;
using cloze::formats::Json;

constexpr int kRounds = 30;
constexpr int64_t kFloats = 1 << 20;  // as train/ranks/gradient_exchange.cc sends them together
constexpr int kShortMessages = 200;

// Of the fastest round; all ranks call it together.
template <typename Body>
double best_seconds(const Body& body) {
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    best = std::min(best, taken.count());
  }
  return best;
}

// `there` messages from the first rank to the second, and one back.
double exchange_seconds(Communicator& ranks, int there) {
  std::vector<std::byte> message(64);
  return best_seconds([&] {
    for (int i = 0; i < there; ++i) {
      if (ranks.rank() == 0) ranks.send(message, 1);
      if (ranks.rank() == 1) ranks.receive(message, 0);
    }
    if (ranks.rank() == 1) ranks.send(message, 0);
    if (ranks.rank() == 0) ranks.receive(message, 1);
  });
}

Json measured_link(Communicator& ranks) {
  const double there_and_back = exchange_seconds(ranks, 1);
  const double latency = there_and_back / 2;
  const double message =
      std::max(0.0, exchange_seconds(ranks, 1 + kShortMessages) - there_and_back) / kShortMessages;
  std::vector<float> values(kFloats, 1.0f);
  const double sum = best_seconds([&] {
    std::ranges::fill(values, 1.0f);
    ranks.all_reduce(values);
  });
  const double others = ranks.size() - 1.0;
  const double bytes = 2.0 * others / ranks.size() * 4.0 * kFloats;
  const double rate = bytes / (sum - 2.0 * latency);
  return {{"latency_us", 1e6 * latency},
          {"message_us", 1e6 * message},
          {"gigabytes_per_second", 1e-9 * rate}};
}

}  // namespace

int main() {
  Communicator& ranks = cloze::comm::world();
  const std::vector<std::string> names = ranks.all_gather(cloze::platform::host_name());
  const auto hosts = static_cast<int>(std::set(names.begin(), names.end()).size());
  if (ranks.size() == 1 || (hosts > 1 && hosts != ranks.size())) {
    if (ranks.rank() == 0) {
      fmt::print(stderr,
                 "network_bench: {} ranks on {} host{}; start two or more by mpirun, all on one "
                 "host or one on each\n",
                 ranks.size(), hosts, hosts == 1 ? "" : "s");
    }
    return 2;
  }
  const Json link = measured_link(ranks);
  Json file{{"schema", "cloze.network"},
            {"version", 1},
            {"network", fmt::format("{} ranks on {} host{} ({})", ranks.size(), hosts,
                                    hosts == 1 ? "" : "s", cloze::platform::processor_name())},
            {"source", fmt::format("network_bench: the best of {} rounds", kRounds)},
            {"ranks_per_host", ranks.size() / hosts},
            {"overlap", 0.0},  // the cores that compute also copy and add
            {"inside_host", link}};
  if (hosts > 1) file["between_hosts"] = link;
  if (ranks.rank() == 0) fmt::print("{}", cloze::formats::json_text(file));
  return 0;
}

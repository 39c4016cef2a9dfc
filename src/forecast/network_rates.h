// The speed at which ranks exchange messages: a network file says it, and `cloze plan
// --network-file` reads it.
//
//   {"schema": "cloze.network", "version": 1, "network": "...", "source": "...",
//    "ranks_per_host": 8, "overlap": 1.0,
//    "inside_host":   {"latency_us": 2.0, "message_us": 0.5, "gigabytes_per_second": 450},
//    "between_hosts": {"latency_us": 5.0, "message_us": 1.0, "gigabytes_per_second": 400}}
//
// A rank sends one message after the other, each in message_us + bytes / rate, and the last one has
// arrived latency_us later. Inside a host each rank has a link of its own; the link between hosts
// is one for a whole host, in each direction. A file without "between_hosts" is of a single host.
// "overlap" is the share of a transfer during which the rank goes on computing: 1 where a card
// moves the bytes, 0 where the computing cores do.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace cloze::forecast {

struct Link {
  double latency = 0.0;  // seconds from the end of sending to the end of arriving
  double message = 0.0;  // seconds that each message costs its sender besides its bytes
  double rate = 0.0;     // bytes per second, in one direction

  // Seconds until so many messages are sent, with so many bytes in total.
  double sending(double messages, double bytes) const { return messages * message + bytes / rate; }
  double seconds(double messages, double bytes) const { return sending(messages, bytes) + latency; }
};

struct NetworkRates {
  std::string network;  // for people
  std::string source;   // where the numbers are from
  int64_t ranks_per_host = 1;
  double overlap = 1.0;
  Link inside_host;
  std::optional<Link> between_hosts;

  // UserError when so many ranks need more hosts than there are, or leave a host half empty.
  void require(int64_t ranks) const;
  int64_t host_of(int64_t rank) const { return rank / ranks_per_host; }
  // The slowest link that a rank can use among so many ranks.
  const Link& slowest(int64_t ranks) const {
    return ranks > ranks_per_host ? *between_hosts : inside_host;
  }
};

// DataError that names the file and what is wrong.
NetworkRates read_network_file(const std::filesystem::path& path);

}  // namespace cloze::forecast

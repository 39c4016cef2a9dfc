// A connection of TCP that carries lines of text and never blocks.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/socket.h"

namespace cloze::platform {

class Connection {
 public:
  // Returns nothing when nobody answers there in time. The address is a number: 10.0.0.1.
  static std::optional<Connection> to(const std::string& address, int port,
                                      std::chrono::milliseconds patience);
  // The connection of a client that has called there; nothing when none has.
  static std::optional<Connection> from(const ListeningSocket& socket);

  // A line without its end. While an earlier line has not been sent completely, later ones are
  // dropped: for a state that is sent again and again, the next one will do.
  void send(std::string_view line);
  // Complete lines that arrived since the last call, without their ends; if much arrives at once,
  // the next calls return the rest. A line of more than 4096 bytes ends the connection.
  std::vector<std::string> lines();
  // The other side has ended it, or is gone; seen by lines().
  bool is_over() const { return is_over_; }

 private:
  explicit Connection(Descriptor socket);
  void push();
  void pull();

  Descriptor socket_;
  std::string begun_;   // received and not yet returned
  std::string unsent_;  // the rest of a line that was sent in part
  bool is_over_ = false;
};

// Addresses at which other machines may reach this one (IPv4), then 127.0.0.1.
std::vector<std::string> own_addresses();

}  // namespace cloze::platform

// Sockets of TCP: one that listens, and how to end a connection that other code owns.
#pragma once

#include <string>
#include <string_view>

#include "platform/descriptor.h"

namespace cloze::platform {

// Bound and listening, without blocking. UserError that names the address when it is unknown, taken
// or not allowed.
class ListeningSocket {
 public:
  // Port 0: any that is free.
  ListeningSocket(const std::string& host, int port);

  int descriptor() const { return socket_.number(); }
  int port() const { return port_; }
  // "127.0.0.1:8080", "[::1]:8080"
  const std::string& address() const { return address_; }
  bool is_loopback() const { return is_loopback_; }  // reached from this machine only
  // Refuses new connections from now on, and resets those that were not accepted yet.
  void stop() const;

 private:
  Descriptor socket_;
  int port_ = 0;
  std::string address_;
  bool is_loopback_ = false;
};

// Sends as much of the text as goes at once, and ends the connection in both directions. Its owner
// still has to close it.
void end_connection(int descriptor, std::string_view last_words);

}  // namespace cloze::platform

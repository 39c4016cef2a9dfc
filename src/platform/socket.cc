#include "platform/socket.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/error.h"

namespace cloze::platform {
namespace {

constexpr int kBacklog = 1024;  // connections that nobody has accepted yet

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses look_up(const std::string& host, int port) {
  if (port < 0 || port > 65535) {
    throw_user_error("port {} is not between 0 and 65535; give another, or 0 for any free one",
                     port);
  }
  addrinfo hints = {};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) {
    throw_user_error("host \"{}\" is not known: {}; give an address such as 127.0.0.1", host,
                     ::gai_strerror(error));
  }
  return {found, ::freeaddrinfo};
}

// Returns one that is not open, with errno, when that cannot be.
Descriptor listen_at(const addrinfo& address) {
  Descriptor socket(
      ::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, address.ai_protocol));
  if (!socket.is_open()) return socket;
  const int yes = 1;
  ::setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const bool listens = ::bind(socket.number(), address.ai_addr, address.ai_addrlen) == 0 &&
                       ::listen(socket.number(), kBacklog) == 0;
  return listens ? std::move(socket) : Descriptor();
}

struct BoundAddress {
  std::string text;
  int port = 0;
  bool is_loopback = false;
};

BoundAddress bound_address(int descriptor) {
  sockaddr_storage storage = {};
  socklen_t size = sizeof storage;
  ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&storage), &size);
  char text[INET6_ADDRSTRLEN] = {};
  if (storage.ss_family == AF_INET6) {
    const auto& address = reinterpret_cast<const sockaddr_in6&>(storage);
    ::inet_ntop(AF_INET6, &address.sin6_addr, text, sizeof text);
    const int port = ntohs(address.sin6_port);
    return {fmt::format("[{}]:{}", text, port), port,
            IN6_IS_ADDR_LOOPBACK(&address.sin6_addr) != 0};
  }
  const auto& address = reinterpret_cast<const sockaddr_in&>(storage);
  ::inet_ntop(AF_INET, &address.sin_addr, text, sizeof text);
  const int port = ntohs(address.sin_port);
  const bool is_loopback = (ntohl(address.sin_addr.s_addr) >> 24) == 127;
  return {fmt::format("{}:{}", text, port), port, is_loopback};
}

}  // namespace

ListeningSocket::ListeningSocket(const std::string& host, int port) {
  const Addresses addresses = look_up(host, port);
  for (const addrinfo* one = addresses.get(); one != nullptr && !socket_.is_open();
       one = one->ai_next) {
    socket_ = listen_at(*one);
  }
  if (!socket_.is_open()) {
    throw_user_error("cannot listen on {} port {}: {}; choose another port or host", host, port,
                     std::strerror(errno));
  }
  const BoundAddress bound = bound_address(socket_.number());
  port_ = bound.port;
  address_ = bound.text;
  is_loopback_ = bound.is_loopback;
}

void ListeningSocket::stop() const { ::shutdown(socket_.number(), SHUT_RDWR); }

void end_connection(int descriptor, std::string_view last_words) {
  if (!last_words.empty()) {
    // Bytes that cannot be sent at once are lost: the receiver has had enough time.
    const ssize_t ignored [[maybe_unused]] =
        ::send(descriptor, last_words.data(), last_words.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  }
  ::shutdown(descriptor, SHUT_RDWR);
}

}  // namespace cloze::platform

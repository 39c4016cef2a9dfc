#include "platform/connection.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace cloze::platform {
namespace {

constexpr size_t kLongestLine = 4096;
// Bytes of one call: whoever sends faster than they are read must not keep the caller for ever.
constexpr size_t kMostAtOnce = 4 * kLongestLine;
constexpr const char* kLoopback = "127.0.0.1";

bool is_connected(int descriptor, std::chrono::milliseconds patience) {
  pollfd waiting{.fd = descriptor, .events = POLLOUT, .revents = 0};
  if (::poll(&waiting, 1, static_cast<int>(patience.count())) != 1) return false;
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

}  // namespace

// Sends each line at once. Otherwise a line would wait until the one before it is acknowledged, and
// be lost if this side ended before that without having read all its input.
Connection::Connection(Descriptor socket) : socket_(std::move(socket)) {
  const int on = 1;
  ::setsockopt(socket_.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

std::optional<Connection> Connection::to(const std::string& address, int port,
                                         std::chrono::milliseconds patience) {
  sockaddr_in target = {};
  target.sin_family = AF_INET;
  target.sin_port = htons(static_cast<uint16_t>(port));
  if (::inet_pton(AF_INET, address.c_str(), &target.sin_addr) != 1) return std::nullopt;
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return std::nullopt;
  const int result =
      ::connect(socket.number(), reinterpret_cast<sockaddr*>(&target), sizeof target);
  if (result != 0 && errno != EINPROGRESS) return std::nullopt;
  if (!is_connected(socket.number(), patience)) return std::nullopt;
  return Connection(std::move(socket));
}

std::optional<Connection> Connection::from(const ListeningSocket& socket) {
  Descriptor caller(::accept4(socket.descriptor(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!caller.is_open()) return std::nullopt;
  return Connection(std::move(caller));
}

void Connection::send(std::string_view line) {
  push();
  if (!unsent_.empty()) return;
  unsent_ = std::string(line) + "\n";
  push();
}

void Connection::push() {
  if (unsent_.empty()) return;
  const ssize_t sent =
      ::send(socket_.number(), unsent_.data(), unsent_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent > 0) unsent_.erase(0, static_cast<size_t>(sent));
}

void Connection::pull() {
  std::array<char, 4096> buffer;
  while (!is_over_ && begun_.size() < kMostAtOnce) {
    const ssize_t got =
        TEMP_FAILURE_RETRY(::recv(socket_.number(), buffer.data(), buffer.size(), MSG_DONTWAIT));
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    is_over_ = got <= 0;
    if (got > 0) begun_.append(buffer.data(), static_cast<size_t>(got));
  }
}

std::vector<std::string> Connection::lines() {
  pull();
  std::vector<std::string> lines;
  size_t begin = 0;
  for (size_t end = 0; (end = begun_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    if (end - begin > kLongestLine) break;
    lines.push_back(begun_.substr(begin, end - begin));
  }
  begun_.erase(0, begin);
  if (begun_.size() > kLongestLine) is_over_ = true;
  return lines;
}

std::vector<std::string> own_addresses() {
  std::vector<std::string> addresses;
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) == 0) {
    for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
      if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
      if ((one->ifa_flags & IFF_LOOPBACK) != 0 || (one->ifa_flags & IFF_UP) == 0) continue;
      char text[INET_ADDRSTRLEN] = {};
      const auto* address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
      addresses.emplace_back(::inet_ntop(AF_INET, &address->sin_addr, text, sizeof text));
    }
    ::freeifaddrs(first);
  }
  addresses.emplace_back(kLoopback);
  return addresses;
}

}  // namespace cloze::platform

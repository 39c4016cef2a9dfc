#include "http_client.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdlib>

namespace cloze::testing {

HttpClient::HttpClient(int port) : descriptor_(::socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const timeval patience = {.tv_sec = 10};
  ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  EXPECT_EQ(::connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
}

HttpClient::~HttpClient() { ::close(descriptor_); }

void HttpClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;  // the server has ended the connection; its reply says why
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

bool HttpClient::read_more() {
  char buffer[4096];
  const ssize_t count = ::recv(descriptor_, buffer, sizeof buffer, 0);
  if (count <= 0) return false;
  received_.append(buffer, static_cast<size_t>(count));
  return true;
}

HttpReply HttpClient::receive() {
  size_t head_end = 0;
  while ((head_end = received_.find("\r\n\r\n")) == std::string::npos) {
    if (!read_more()) return {};
  }
  HttpReply reply{.head = received_.substr(0, head_end + 4)};
  reply.status = std::atoi(reply.head.c_str() + std::string_view("HTTP/1.1 ").size());
  const size_t length_field = reply.head.find("Content-Length: ");
  if (length_field == std::string::npos) return {};
  const size_t length = std::strtoul(reply.head.c_str() + length_field + 16, nullptr, 10);
  while (received_.size() < reply.head.size() + length) {
    if (!read_more()) return {};
  }
  reply.body = received_.substr(reply.head.size(), length);
  received_.erase(0, reply.head.size() + length);
  return reply;
}

}  // namespace cloze::testing

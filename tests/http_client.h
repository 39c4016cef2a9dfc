// A client that says exactly the bytes it is given, to see what a server makes of them.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace cloze::testing {

struct HttpReply {
  int status = 0;  // 0: the connection ended without one
  std::string head;
  std::string body;
};

class HttpClient {
 public:
  explicit HttpClient(int port);  // on 127.0.0.1
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  void send(std::string_view bytes);
  // The next reply; waits for it at most ten seconds.
  HttpReply receive();

 private:
  bool read_more();

  int descriptor_ = -1;
  std::string received_;  // and not yet returned
};

}  // namespace cloze::testing

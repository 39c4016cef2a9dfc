// The service over HTTP/1.1, carried by libmicrohttpd. One thread of the library moves bytes; a
// connection whose request waits for the model is set aside and occupies nobody.
//
// What is no HTTP at all, and a header over twice the limit, the library answers itself, with a 400
// or 431 of its own in HTML, or by closing; all else is the service's JSON.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "platform/socket.h"
#include "serve/service.h"

namespace cloze::serve {

class HttpServer {
 public:
  // Called with "POST /fill 200 3.1 ms" after each request, by threads of the server.
  using RequestLog = std::function<void(const std::string& line)>;

  // All three must outlive the server. EnvironmentError when the system has no more for it.
  HttpServer(const platform::ListeningSocket& socket, Service& service, RequestLog log = {});
  ~HttpServer();

  // Accepts nothing more, answers what has come and what comes within half a second on connections
  // that are there, says in each reply that the connection closes, then ends every connection.
  void stop();

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace cloze::serve

// The service over HTTP/1.1, carried by libmicrohttpd. One thread of the library moves bytes; a
// connection whose request waits for the model is set aside and occupies nobody.
//
// The library itself answers what is not HTTP, and a header over twice the limit: with its own 400
// or 431 in HTML, or by closing the connection. All other replies are the service's JSON. Its 400
// for a Content-Length that it cannot read has the header twice (0.9.75), the second time as the
// beginning of the body.
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

  // `socket` and `service` must outlive the server, which stops the socket at its end.
  // EnvironmentError when the system has no more for it.
  HttpServer(const platform::ListeningSocket& socket, Service& service, RequestLog log = {});
  ~HttpServer();

  // Refuses new connections. Answers the requests that have come, and those that come within half a
  // second on open connections; each reply says that the connection closes. Then ends every
  // connection.
  void stop();

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace cloze::serve

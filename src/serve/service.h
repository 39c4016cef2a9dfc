// Answers requests, whatever carries them:
//
//   GET  /         the page with the form         GET /health   {"status": "ok"}
//   GET  /metrics  counts, for Prometheus         GET /model    the model and the limits
//   POST /answer, /classify, /fill                as far as the model has the head for it
//
// A reply to one input, and a reply to a list of inputs, also has {"model": the model's name}.
// Errors are {"error": "..."} with a status; the message names the thing, the value and the next
// step. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/endpoint.h"
#include "serve/http_message.h"
#include "serve/limits.h"
#include "serve/metrics.h"
#include "serve/request_queue.h"

namespace cloze::serve {

// The page under GET /: a form that asks the model. It is one file (page.html), put into the
// program when that is built, and fetches nothing from elsewhere.
Response page_response();

class Service {
 public:
  struct Options {
    formats::Json model;  // what GET /model says of it; it has a "name"
    std::vector<Endpoint> endpoints;
    Limits limits;
    bool is_loopback = true;  // then only requests to names of this machine are answered
  };
  using Done = std::function<void(Response)>;  // must not throw

  // EnvironmentError when the system has no threads for its queues.
  explicit Service(Options options);

  // Checks a request before its body has come. Nothing: read the body, and go on with handle().
  std::optional<Response> refusal(const RequestHead& head) const;
  // Says whether the body of a refused request is read and dropped before the reply. A client that
  // sends all of a body before it reads anything would otherwise see a closed connection, and not
  // why; one that says "Expect: 100-continue" reads first.
  bool drops_body(const RequestHead& head) const;
  // Calls `done` once: at once, or from another thread when the model has answered.
  void handle(const RequestHead& head, std::string_view body, Done done);
  // Finishes what waits; refuses what the model would have to answer from now on.
  void stop();

  const Limits& limits() const { return options_.limits; }
  Metrics& metrics() { return metrics_; }
  // The path when there is something under it, else "other": what the metrics call it.
  std::string known_path(std::string_view path) const;
  // Sets the function that counts connections, for the metrics.
  void set_connection_count(std::function<int64_t()> count) {
    count_connections_ = std::move(count);
  }

 private:
  Response get(std::string_view path) const;
  int64_t waiting_inputs() const;

  Options options_;
  Metrics metrics_;
  std::function<int64_t()> count_connections_ = [] { return int64_t{0}; };
  std::vector<std::unique_ptr<RequestQueue>> queues_;  // one for each endpoint
};

}  // namespace cloze::serve

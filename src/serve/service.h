// Answers requests, whatever carries them, by the rows of a table (endpoint.h): those of the model,
// and the pages of the server.
//
// An error has the form of the endpoint (failure.h), ours where there is none. The message names the
// thing, the value and the next step. Thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/endpoint.h"
#include "serve/http_message.h"
#include "serve/limits.h"
#include "serve/metrics.h"
#include "serve/request_queue.h"
#include "serve/request_refusal.h"
#include "serve/tei_metrics.h"

namespace cloze::serve {

class Service {
 public:
  struct Options {
    formats::Json model;                 // what GET /model says of it; it has a "name"
    std::vector<Endpoint> endpoints;     // of the model
    std::vector<std::string> own_paths;  // those of them that the page has a form for
    Handler handler;                     // what they ask
    RefusalRules rules;
    std::string compute_type = "cpu";  // what x-compute-type says
  };
  using Done = std::function<void(Response)>;  // must not throw

  // EnvironmentError when the system has no threads for its queue.
  explicit Service(Options options);
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

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

  const Limits& limits() const { return options_.rules.limits; }
  Metrics& metrics() { return metrics_; }
  // The path when there is something under it, else "other": what the metrics call it.
  std::string known_path(std::string_view path) const;
  // Sets the function that counts connections, for the metrics.
  void set_connection_count(std::function<int64_t()> count) {
    count_connections_ = std::move(count);
  }

 private:
  class Exchange;

  std::string metrics_text() const;
  void add_pages();

  Options options_;
  Metrics metrics_;
  TeiMetrics tei_metrics_;
  std::function<int64_t()> count_connections_ = [] { return int64_t{0}; };
  std::vector<Endpoint> endpoints_;  // all
  RequestQueue queue_;
};

}  // namespace cloze::serve

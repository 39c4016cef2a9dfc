#include "serve/service.h"

#include <fmt/format.h>

#include <memory>
#include <new>
#include <span>
#include <utility>
#include <variant>

#include "base/seconds.h"
#include "serve/openapi.h"
#include "serve/server_pages.h"
#include "text/utf8.h"

namespace cloze::serve {
namespace {

int64_t characters_of(std::span<const Input> inputs) {
  size_t count = 0;
  for (const Input& input : inputs) {
    count += text::count_code_points(input.first) + text::count_code_points(input.second);
    for (const std::string& one : input.list) count += text::count_code_points(one);
  }
  return static_cast<int64_t>(count);
}

// Why there are no answers; nothing when there are.
std::optional<Failure> failure_of(const QueueReply& reply, const QueueLimits& limits) {
  switch (reply.result) {
    case QueueResult::kAnswered:
      return std::nullopt;
    case QueueResult::kFull:
      return Failure{
          Trouble::kQueueFull,
          fmt::format("the queue is full ({} inputs); try again later", limits.waiting_inputs)};
    case QueueResult::kStopping:
      return Failure{Trouble::kStopping, "the server is stopping; try again later"};
    case QueueResult::kExpired:
      return Failure{Trouble::kExpired,
                     fmt::format("the request waited {} ms in the queue; try again later",
                                 limits.waiting_time.count())};
    case QueueResult::kFailed:
      break;
  }
  return Failure{Trouble::kModelFailed, model_failed(reply.error)};
}

}  // namespace

// One request to the model, from its body to its reply.
class Service::Exchange {
 public:
  using Clock = std::chrono::steady_clock;

  Exchange(const Endpoint& endpoint, Service& service)
      : endpoint_(endpoint), service_(service), use_{.work = endpoint.work} {}

  // The inputs of the body, or the reply when there is nothing to ask.
  std::variant<std::vector<Input>, Response> read(std::string_view body) {
    try {
      question_ = endpoint_.read(body);
    } catch (const Failure& failure) {
      return failed(failure);
    }
    use_.is_batch = question_.is_batch;
    use_.inputs = std::ssize(question_.inputs);
    if (question_.inputs.empty()) return joined({});
    characters_ = characters_of(question_.inputs);
    return std::move(question_.inputs);
  }

  Response reply(QueueReply reply) {
    if (const auto failure = failure_of(reply, service_.limits().queue)) return failed(*failure);
    use_.times = reply.times;
    for (const Output& output : reply.outputs) {
      use_.tokens += output.answer.tokens;
      use_.token_seconds += output.answer.token_seconds;
    }
    return joined(std::move(reply.outputs));
  }

 private:
  // A reply that cannot be made ends no more than its request.
  Response joined(std::vector<Output> outputs) {
    try {
      Response response = question_.join(std::move(outputs));
      use_.seconds = seconds_since(begin_);
      if (endpoint_.work == Work::kNone) return response;
      service_.tei_metrics_.count_good(use_);
      if (endpoint_.errors != ErrorForm::kOwn) {
        add_use_fields(use_, characters_, response);
        response.fields.emplace_back("x-compute-type", service_.options_.compute_type);
      }
      return response;
    } catch (const Failure& failure) {
      return failed(failure);
    } catch (const std::bad_alloc&) {
      return failed(
          {Trouble::kModelFailed, "there is no memory for the reply; send fewer inputs at once"});
    }
  }

  Response failed(const Failure& failure) {
    if (endpoint_.work != Work::kNone) {
      service_.tei_metrics_.count_failed(use_, failure.trouble);
    }
    return failure_response(endpoint_.errors, failure);
  }

  const Endpoint& endpoint_;
  Service& service_;
  const Clock::time_point begin_ = Clock::now();
  Question question_;
  RequestUse use_;
  int64_t characters_ = 0;
};

Service::Service(Options options)
    : options_(std::move(options)),
      endpoints_(options_.endpoints),
      queue_(options_.handler, options_.rules.limits.queue, [this](BatchSize size) {
        metrics_.count_batch(size.inputs);
        tei_metrics_.count_batch(size);
      }) {
  add_pages();
}

void Service::add_pages() {
  const std::vector<Endpoint> pages = server_pages({.model = options_.model,
                                                    .own_paths = options_.own_paths,
                                                    .limits = limits(),
                                                    .metrics = [this] { return metrics_text(); }});
  endpoints_.insert(endpoints_.end(), pages.begin(), pages.end());
  Endpoint& last = endpoints_.emplace_back();
  last = {.path = "/api-doc/openapi.json",
          .summary = "This document",
          .reply = "An OpenAPI document",
          .is_public = true,
          .get = [] { return Response(); }};
  const formats::Json document =
      openapi_document(endpoints_, {.title = options_.model.at("name").get<std::string>(),
                                    .has_key = !options_.rules.key.empty()});
  last.get = [response = json_response(document)] { return response; };
}

std::string Service::known_path(std::string_view path) const {
  return find_endpoint(endpoints_, path, "GET") != nullptr ? std::string(path) : "other";
}

std::optional<Response> Service::refusal(const RequestHead& head) const {
  return refusal_of(head, endpoints_, options_.rules);
}

bool Service::drops_body(const RequestHead& head) const {
  constexpr int64_t kMostBodies = 64;
  const int64_t most = limits().body_bytes;
  const int64_t length = parse_length(head.field("Content-Length").value_or("0")).value_or(0);
  return length > most && length / kMostBodies <= most && !head.field("Expect");
}

void Service::handle(const RequestHead& head, std::string_view body, Done done) {
  const Endpoint& endpoint = *find_endpoint(endpoints_, head.path, head.method);
  if (!endpoint.takes_body()) return done(endpoint.get());
  const auto exchange = std::make_shared<Exchange>(endpoint, *this);
  auto read = exchange->read(body);
  if (auto* reply = std::get_if<Response>(&read)) return done(std::move(*reply));
  queue_.submit(std::get<std::vector<Input>>(std::move(read)),
                [exchange, done = std::move(done)](QueueReply reply) {
                  done(exchange->reply(std::move(reply)));
                });
}

void Service::stop() { queue_.stop(); }

std::string Service::metrics_text() const {
  const int64_t waiting = queue_.waiting_inputs();
  return metrics_.prometheus({.waiting_inputs = waiting, .connections = count_connections_()}) +
         tei_metrics_.prometheus(waiting);
}

}  // namespace cloze::serve

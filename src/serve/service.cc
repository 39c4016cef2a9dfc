#include "serve/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "base/whole_number.h"
#include "models/bert_heads.h"
#include "serve/page_html.h"
#include "serve/request_body.h"
#include "text/ascii.h"

namespace cloze::serve {
namespace {

using formats::Json;

constexpr std::array<std::string_view, 4> kPages = {"/", "/health", "/metrics", "/model"};
const std::string kModelFailed = "the model failed: ";
constexpr size_t kQuotedBytes = 60;  // of what a client sent, in an error

bool contains(const auto& list, std::string_view value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// A name of this machine, with or without a port. A foreign page whose name was made to resolve to
// this machine sends its own name, and gets nothing.
bool is_loopback_name(std::string_view host) {
  const size_t colon = host.rfind(':');
  const bool has_port = colon != std::string_view::npos && host.find(']', colon) == host.npos;
  const std::string name = text::lower_ascii(has_port ? host.substr(0, colon) : host);
  const bool is_number = name.find_first_not_of("0123456789.") == std::string::npos;
  return name == "localhost" || name == "[::1]" || (is_number && name.starts_with("127."));
}

// "application/json; charset=utf-8" → "application/json"
std::string media_type(std::string_view content_type) {
  return text::lower_ascii(text::trim_ascii(content_type.substr(0, content_type.find(';'))));
}

std::optional<int64_t> parse_length(std::string_view text) {
  return text.starts_with('-') ? std::nullopt : number_in<int64_t>(text);
}

Json json_of(Output output) {
  if (output.is_models_fault) return {{"error", kModelFailed + output.error}};
  if (!output.error.empty()) return {{"error", std::move(output.error)}};
  return std::move(output.value);
}

// Every reply says whose it is.
Response reply_of(Json reply, const Service::Options& options) {
  reply["model"] = options.model.at("name");
  return json_response(reply);
}

Response list_response(std::vector<Output> outputs, const std::vector<std::string>& errors,
                       const Service::Options& options) {
  const bool has_failed = std::ranges::any_of(outputs, &Output::is_models_fault);
  Json list = Json::array();
  auto next = outputs.begin();
  for (const std::string& error : errors) {
    list.push_back(error.empty() ? json_of(std::move(*next++)) : json_of(Output{.error = error}));
  }
  Response response = reply_of({{"outputs", std::move(list)}}, options);
  if (has_failed) response.status = 500;
  return response;
}

// The form of the request says that of the answer.
Response answer_response(std::vector<Output> outputs, const RequestBody& asked,
                         const Service::Options& options) {
  if (asked.is_list) return list_response(std::move(outputs), asked.errors, options);
  if (outputs[0].is_models_fault) return error_response(500, kModelFailed + outputs[0].error);
  if (!outputs[0].error.empty()) return error_response(400, outputs[0].error);
  return reply_of(std::move(outputs[0].value), options);
}

Response response_of(QueueReply reply, const RequestBody& asked, const Service::Options& options) {
  const QueueLimits& limits = options.limits.queue;
  switch (reply.result) {
    case QueueResult::kAnswered:
      return answer_response(std::move(reply.outputs), asked, options);
    case QueueResult::kFull:
      return retry_later(
          fmt::format("the queue is full ({} inputs); try again later", limits.waiting_inputs));
    case QueueResult::kStopping:
      return closing(retry_later("the server is stopping; try again later"));
    case QueueResult::kExpired:
      return error_response(504,
                            fmt::format("the request waited {} ms in the queue; try again later",
                                        limits.waiting_time.count()));
    case QueueResult::kFailed:
      break;
  }
  return error_response(500, kModelFailed + reply.error);
}

// A reply that cannot be made ends no more than its request.
Response response_or_failure(QueueReply reply, const RequestBody& asked,
                             const Service::Options& options) {
  try {
    return response_of(std::move(reply), asked, options);
  } catch (const std::bad_alloc&) {
    return error_response(500, "there is no memory for the reply; send fewer inputs at once");
  }
}

Json json_of(const Limits& limits) {
  return {{"header_bytes", limits.header_bytes},
          {"body_bytes", limits.body_bytes},
          {"text_bytes", limits.text_bytes},
          {"inputs_per_request", limits.inputs_per_request},
          {"top_k", limits.top_k},
          {"connections", limits.connections},
          {"connections_per_address", limits.connections_per_address},
          {"transfer_milliseconds", limits.transfer_time.count()},
          {"waiting_inputs", limits.queue.waiting_inputs},
          {"waiting_milliseconds", limits.queue.waiting_time.count()},
          {"batch_inputs", limits.queue.batch_inputs},
          {"batch_bytes", limits.queue.batch_bytes},
          {"batch_candidates", limits.queue.batch_candidates},
          {"batch_wait_milliseconds", limits.queue.batch_wait.count()}};
}

const Endpoint* find_endpoint(const std::vector<Endpoint>& endpoints, std::string_view path) {
  for (const Endpoint& endpoint : endpoints) {
    if (endpoint.path == path) return &endpoint;
  }
  return nullptr;
}

// A name with a blank before its colon would be read by a proxy, and not here: RFC 9112, 5.1.
std::optional<Response> refuse_names(const RequestHead& head) {
  for (const auto& [name, value] : head.fields) {
    if (is_token(name)) continue;
    return error_response(
        400, fmt::format(
                 "\"{}\" cannot be the name of a header field; use letters, digits and -, and put "
                 "the colon directly after them",
                 std::string_view(name).substr(0, kQuotedBytes)));
  }
  return std::nullopt;
}

std::optional<Response> refuse_host(const RequestHead& head) {
  const std::string_view named = head.field("Host").value_or("localhost");
  const std::string_view addressed = head.authority ? *head.authority : named;
  for (const std::string_view host : {named, addressed}) {
    if (is_loopback_name(host)) continue;
    return error_response(421,
                          fmt::format("Host \"{}\" is not this machine; use localhost or 127.0.0.1",
                                      host.substr(0, kQuotedBytes)));
  }
  return std::nullopt;
}

std::optional<Response> refuse_header(const RequestHead& head, const Service::Options& options) {
  if (head.bytes > options.limits.header_bytes) {
    return error_response(
        431, fmt::format("the request line and header have {} bytes, more than {}; shorten them",
                         head.bytes, options.limits.header_bytes));
  }
  if (std::optional<Response> refused = refuse_names(head)) return refused;
  if (head.version == "HTTP/1.1" && head.count("Host") != 1) {
    return error_response(400, "there must be exactly one Host field in the header; send one");
  }
  return options.is_loopback ? refuse_host(head) : std::nullopt;
}

std::optional<Response> refuse_path(const RequestHead& head,
                                    const std::vector<Endpoint>& endpoints) {
  const bool is_page = contains(kPages, head.path);
  if (!is_page && find_endpoint(endpoints, head.path) == nullptr) {
    std::string offered;
    for (const Endpoint& endpoint : endpoints) offered += " " + endpoint.path;
    const bool is_of_another =
        std::ranges::count(models::all_heads(), head.path, &models::HeadTraits::endpoint) > 0;
    return error_response(
        404, is_of_another
                 ? fmt::format("this model does not answer {}; it answers{}", head.path, offered)
                 : fmt::format("there is nothing at {}; there is{} and / /health /metrics /model",
                               std::string_view(head.path).substr(0, kQuotedBytes), offered));
  }
  const bool is_allowed =
      is_page ? head.method == "GET" || head.method == "HEAD" : head.method == "POST";
  if (is_allowed) return std::nullopt;
  const std::string_view allowed = is_page ? "GET, HEAD" : "POST";
  Response response = error_response(
      405, fmt::format("{} does not take {}; use {}", head.path,
                       std::string_view(head.method).substr(0, kQuotedBytes), allowed));
  response.fields.push_back({"Allow", std::string(allowed)});
  return response;
}

std::optional<Response> refuse_body(const RequestHead& head, const Limits& limits) {
  const std::optional<std::string_view> length_text = head.field("Content-Length");
  const std::optional<int64_t> length = parse_length(length_text.value_or("0"));
  const bool is_chunked = head.field("Transfer-Encoding").has_value();
  if (!length || head.count("Content-Length") > 1) {
    return error_response(400, "Content-Length is not a single whole number");
  }
  if (head.method != "POST") {
    const bool has_body = is_chunked || *length != 0;
    if (has_body) return error_response(413, fmt::format("{} takes no body", head.method));
    return std::nullopt;
  }
  if (is_chunked || !length_text) {
    return error_response(411, "the body's length is not given; send Content-Length");
  }
  if (*length > limits.body_bytes) {
    return error_response(413, fmt::format("the body has {} bytes, more than {}; send less",
                                           *length, limits.body_bytes));
  }
  if (media_type(head.field("Content-Type").value_or("")) != "application/json") {
    return error_response(415, "the body must be JSON; send Content-Type: application/json");
  }
  return std::nullopt;
}

Response model_description(const Service::Options& options) {
  Json endpoints = Json::array();
  for (const Endpoint& endpoint : options.endpoints) endpoints.push_back(endpoint.path);
  return json_response({{"model", options.model},
                        {"endpoints", std::move(endpoints)},
                        {"limits", json_of(options.limits)}});
}

}  // namespace

Response page_response() {
  // Whatever the page is made to show, it can load nothing and talk to nothing but this server.
  constexpr const char* kPolicy =
      "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
      "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
  return {.content_type = "text/html; charset=utf-8",
          .body = kPageHtml,
          .fields = {{"Content-Security-Policy", kPolicy},
                     {"X-Content-Type-Options", "nosniff"},
                     {"Referrer-Policy", "no-referrer"}}};
}

Service::Service(Options options) : options_(std::move(options)) {
  for (const Endpoint& endpoint : options_.endpoints) {
    queues_.push_back(
        std::make_unique<RequestQueue>(endpoint.handler, options_.limits.queue,
                                       [this](int64_t inputs) { metrics_.count_batch(inputs); }));
  }
}

std::string Service::known_path(std::string_view path) const {
  const bool is_known =
      contains(kPages, path) || find_endpoint(options_.endpoints, path) != nullptr;
  return is_known ? std::string(path) : "other";
}

std::optional<Response> Service::refusal(const RequestHead& head) const {
  std::optional<Response> refused = refuse_header(head, options_);
  if (!refused) refused = refuse_path(head, options_.endpoints);
  if (!refused) refused = refuse_body(head, options_.limits);
  if (refused) refused->closes_connection = true;
  return refused;
}

bool Service::drops_body(const RequestHead& head) const {
  constexpr int64_t kMostBodies = 64;
  const int64_t most = options_.limits.body_bytes;
  const int64_t length = parse_length(head.field("Content-Length").value_or("0")).value_or(0);
  return length > most && length / kMostBodies <= most && !head.field("Expect");
}

void Service::handle(const RequestHead& head, std::string_view body, Done done) {
  const Endpoint* endpoint = find_endpoint(options_.endpoints, head.path);
  if (endpoint == nullptr) return done(get(head.path));
  auto parsed = parse_request_body(body, *endpoint, options_.limits);
  if (auto* error = std::get_if<Response>(&parsed)) return done(std::move(*error));
  auto& asked = std::get<RequestBody>(parsed);
  std::vector<Input> inputs = std::exchange(asked.inputs, {});
  if (inputs.empty()) return done(answer_response({}, asked, options_));
  RequestQueue& queue = *queues_[endpoint - options_.endpoints.data()];
  queue.submit(std::move(inputs),
               [this, done = std::move(done), asked = std::move(asked)](QueueReply reply) {
                 done(response_or_failure(std::move(reply), asked, options_));
               });
}

void Service::stop() {
  for (const auto& queue : queues_) queue->stop();
}

int64_t Service::waiting_inputs() const {
  int64_t sum = 0;
  for (const auto& queue : queues_) sum += queue->waiting_inputs();
  return sum;
}

Response Service::get(std::string_view path) const {
  if (path == "/health") return json_response({{"status", "ok"}});
  if (path == "/model") return model_description(options_);
  if (path == "/metrics") {
    return {.content_type = "text/plain; version=0.0.4; charset=utf-8",
            .body = metrics_.prometheus(
                {.waiting_inputs = waiting_inputs(), .connections = count_connections_()})};
  }
  return page_response();
}

}  // namespace cloze::serve

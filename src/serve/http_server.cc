#include "serve/http_server.h"

#include <fmt/format.h>
#include <microhttpd.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <optional>
#include <utility>

#include "base/error.h"
#include "serve/connection_watch.h"

namespace cloze::serve {
namespace {

using Clock = std::chrono::steady_clock;
using Stage = ConnectionWatch::Stage;

// A stopping server still answers requests that arrive within this time on a kept-alive connection,
// and says that it closes: an immediate close would reset the connection during a request.
constexpr std::chrono::milliseconds kTimeOfKeptConnections{500};

// The number of connections above the limit that are still told so.
constexpr int64_t kConnectionsToRefuse = 64;

// One request on its way, from its first line to the end of its reply.
struct Exchange {
  RequestHead head;
  bool has_head = false;
  bool has_cut_path = false;  // the library decodes %00, and C's texts end there
  std::string body;
  std::optional<Response> response;
  Clock::time_point begin;
};

ConnectionWatch::Connection* watched(MHD_Connection* connection) {
  const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return static_cast<ConnectionWatch::Connection*>(info->socket_context);
}

MHD_Result add_field(void* fields, MHD_ValueKind, const char* name, const char* value) {
  static_cast<RequestHead*>(fields)->fields.emplace_back(name, value == nullptr ? "" : value);
  return MHD_YES;
}

// A method or path as it may stand in a log: one line, and nothing that a terminal acts on.
std::string printable(std::string_view sent) {
  std::string text;
  for (const char byte : sent) {
    const bool is_plain = byte > ' ' && byte < '\x7f';
    text +=
        is_plain ? std::string(1, byte) : fmt::format("%{:02X}", static_cast<unsigned char>(byte));
  }
  return text;
}

ConnectionWatch::Options watch_options(Service& service, const HttpServer::RequestLog& log) {
  const auto time = service.limits().transfer_time;
  const Response late = error_response(
      408,
      fmt::format("the whole request did not arrive within {} ms; send it faster", time.count()));
  const auto on_late_request = [&service, log, time] {
    const std::chrono::duration<double> seconds = time;
    service.metrics().count({.path = "other", .status = 408, .seconds = seconds.count()});
    if (log) log(fmt::format("an incomplete request 408 {:.1f} ms", 1000 * seconds.count()));
  };
  return {.time = time, .last_words = closing_message(late), .on_late_request = on_late_request};
}

}  // namespace

class HttpServer::Implementation {
 public:
  Implementation(const platform::ListeningSocket& socket, Service& service, RequestLog log)
      : socket_(socket),
        service_(service),
        log_(std::move(log)),
        watch_(watch_options(service, log_)) {
    // Before the library's thread runs, which may read it at once.
    service_.set_connection_count([this] { return watch_.count(); });
    const Limits& limits = service.limits();
    const auto idle_seconds = std::chrono::ceil<std::chrono::seconds>(limits.transfer_time);
    daemon_ = MHD_start_daemon(
        MHD_USE_POLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, nullptr, nullptr, &on_request,
        this, MHD_OPTION_LISTEN_SOCKET, socket.descriptor(), MHD_OPTION_URI_LOG_CALLBACK,
        &on_request_line, this, MHD_OPTION_NOTIFY_COMPLETED, &on_completed, this,
        MHD_OPTION_NOTIFY_CONNECTION, &on_connection, this, MHD_OPTION_CONNECTION_LIMIT,
        static_cast<unsigned>(limits.connections + kConnectionsToRefuse),
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, static_cast<unsigned>(limits.connections_per_address),
        // Twice the header, so that one over the limit can still be told so.
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, static_cast<size_t>(2 * limits.header_bytes + 4096),
        MHD_OPTION_CONNECTION_TIMEOUT, static_cast<unsigned>(2 * idle_seconds.count()),
        MHD_OPTION_END);
    if (daemon_ != nullptr) return;
    service_.set_connection_count([] { return int64_t{0}; });
    throw_environment_error("cannot start the HTTP server on {}; see ulimit -n and ulimit -u",
                            socket.address());
  }
  ~Implementation() { stop(); }

  // The library must have no request set aside when it is stopped.
  void stop() {
    if (daemon_ == nullptr) return;
    is_stopping_ = true;
    MHD_quiesce_daemon(daemon_);  // gives the socket back, which still listens
    socket_.stop();
    watch_.wait_until_answered(kTimeOfKeptConnections);
    service_.stop();
    watch_.wait_until_answered();
    MHD_stop_daemon(daemon_);
    daemon_ = nullptr;
    service_.set_connection_count([] { return int64_t{0}; });
  }

 private:
  static void on_connection(void* self, MHD_Connection* connection, void** context,
                            MHD_ConnectionNotificationCode code) {
    ConnectionWatch& watch = static_cast<Implementation*>(self)->watch_;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
      const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
      *context = watch.add(info->connect_fd);
    } else {
      watch.forget(static_cast<ConnectionWatch::Connection*>(*context));
    }
  }

  static void* on_request_line(void* self, const char* target, MHD_Connection* connection) {
    static_cast<Implementation*>(self)->watch_.enter(watched(connection), Stage::kReceiving);
    auto* exchange = new Exchange;
    const std::string_view line(target);
    exchange->head.bytes = static_cast<int64_t>(line.size());
    exchange->has_cut_path = line.substr(0, line.find('?')).find("%00") != std::string_view::npos;
    return exchange;
  }

  // take_head(), which may reply; then each piece of the body is kept or dropped; then hand_over()
  // or reply().
  static MHD_Result on_request(void* self, MHD_Connection* connection, const char* path,
                               const char* method, const char* version, const char* bytes,
                               size_t* num_bytes, void** exchange_place) {
    auto& server = *static_cast<Implementation*>(self);
    auto& exchange = *static_cast<Exchange*>(*exchange_place);
    if (!exchange.has_head) {
      exchange.head.set_target(exchange.has_cut_path ? "%00" : path);  // a path that does not exist
      exchange.head.method = method;
      exchange.head.version = version;
      return server.take_head(connection, exchange);
    }
    if (*num_bytes == 0) {
      return exchange.response ? server.reply(connection, exchange)
                               : server.hand_over(connection, exchange);
    }
    // The library counts the bytes against Content-Length, and the service has looked at that.
    const size_t count = std::exchange(*num_bytes, 0);
    if (!exchange.response) exchange.body.append(bytes, count);
    return MHD_YES;
  }

  static void on_completed(void* self, MHD_Connection* connection, void** exchange,
                           MHD_RequestTerminationCode) {
    static_cast<Implementation*>(self)->watch_.enter(watched(connection), Stage::kIdle);
    delete static_cast<Exchange*>(*exchange);
  }

  MHD_Result take_head(MHD_Connection* connection, Exchange& exchange) {
    exchange.begin = Clock::now();
    exchange.has_head = true;
    RequestHead& head = exchange.head;
    MHD_get_connection_values(connection, MHD_HEADER_KIND, &add_field, &head);
    const auto* size = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    head.bytes = static_cast<int64_t>(size->header_size);
    exchange.response = refusal(head);
    const bool replies_now = exchange.response && !service_.drops_body(head);
    return replies_now ? reply(connection, exchange) : MHD_YES;
  }

  std::optional<Response> refusal(const RequestHead& head) const {
    const int64_t most = service_.limits().connections;
    if (watch_.count() <= most) return service_.refusal(head);
    return closing(
        retry_later(fmt::format("there are {} connections already; try again later", most)));
  }

  MHD_Result hand_over(MHD_Connection* connection, Exchange& exchange) {
    watch_.enter(watched(connection), Stage::kWorking);
    MHD_suspend_connection(connection);
    const auto done = [connection, &exchange](Response response) {
      exchange.response = std::move(response);
      MHD_resume_connection(connection);
    };
    try {
      service_.handle(exchange.head, exchange.body, done);
    } catch (const std::exception& error) {  // a connection set aside must come back
      done(error_response(500, error.what()));
    }
    return MHD_YES;
  }

  MHD_Result reply(MHD_Connection* connection, Exchange& exchange) {
    watch_.enter(watched(connection), Stage::kSending);
    Response& response = *exchange.response;
    MHD_Response* message = MHD_create_response_from_buffer(
        response.body.size(), response.body.data(), MHD_RESPMEM_MUST_COPY);
    if (message == nullptr) return MHD_NO;  // no memory: the connection is closed
    MHD_add_response_header(message, MHD_HTTP_HEADER_CONTENT_TYPE, response.content_type.c_str());
    for (const auto& [name, value] : response.fields) {
      MHD_add_response_header(message, name.c_str(), value.c_str());
    }
    if (response.closes_connection || is_stopping_) {
      MHD_add_response_header(message, MHD_HTTP_HEADER_CONNECTION, "close");
    }
    const auto status = static_cast<unsigned>(response.status);
    const MHD_Result result = MHD_queue_response(connection, status, message);
    MHD_destroy_response(message);
    record(exchange);
    return result;
  }

  void record(const Exchange& exchange) {
    const std::chrono::duration<double> seconds = Clock::now() - exchange.begin;
    const int status = exchange.response->status;
    service_.metrics().count({.path = service_.known_path(exchange.head.path),
                              .status = status,
                              .seconds = seconds.count()});
    if (log_) {
      log_(fmt::format("{:.16} {:.100} {} {:.1f} ms", printable(exchange.head.method),
                       printable(exchange.head.path), status, 1000 * seconds.count()));
    }
  }

  const platform::ListeningSocket& socket_;
  Service& service_;
  RequestLog log_;
  ConnectionWatch watch_;
  std::atomic<bool> is_stopping_ = false;
  MHD_Daemon* daemon_ = nullptr;
};

HttpServer::HttpServer(const platform::ListeningSocket& socket, Service& service, RequestLog log)
    : implementation_(std::make_unique<Implementation>(socket, service, std::move(log))) {}

HttpServer::~HttpServer() = default;

void HttpServer::stop() { implementation_->stop(); }

}  // namespace cloze::serve

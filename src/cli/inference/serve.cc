#include "cli/inference/serve.h"

#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "base/error.h"
#include "cli/inference/inference_options.h"
#include "platform/signals.h"
#include "platform/socket.h"
#include "serve/http_server.h"
#include "serve/model_endpoints.h"
#include "serve/service.h"

namespace cloze::cli {
namespace {

struct Options {
  std::string checkpoint;
  std::string device = "cpu";
  std::string host = "127.0.0.1";
  int port = 8080;
  serve::ServingOptions serving;
  serve::Limits limits;
  // Of limits, in the units of their options.
  int64_t transfer_milliseconds = limits.transfer_time.count();
  int64_t batch_wait_milliseconds = limits.queue.batch_wait.count();
  int64_t waiting_milliseconds = limits.queue.waiting_time.count();
  int log_seconds = 10;
  bool logs_requests = false;
};

serve::Limits limits_of(const Options& options) {
  serve::Limits limits = options.limits;
  limits.transfer_time = std::chrono::milliseconds(options.transfer_milliseconds);
  limits.queue.batch_wait = std::chrono::milliseconds(options.batch_wait_milliseconds);
  limits.queue.waiting_time = std::chrono::milliseconds(options.waiting_milliseconds);
  if (limits.queue.waiting_inputs < limits.inputs_per_request) {
    throw_user_error("--max-waiting {} is less than --max-inputs {}; raise it",
                     limits.queue.waiting_inputs, limits.inputs_per_request);
  }
  return limits;
}

void print_line(const std::string& line) {
  fmt::print(stderr, "{}\n", line);
  std::fflush(stderr);
}

void print_start(const Options& options, const platform::ListeningSocket& socket,
                 const std::filesystem::path& model) {
  const serve::Limits& limits = options.limits;
  print_line(fmt::format(
      "serving {} on http://{}/: at most {} connections, {} inputs waiting, {} a batch, {} bytes "
      "a body, {} ms a transfer, {} ms in the queue",
      model.string(), socket.address(), limits.connections, limits.queue.waiting_inputs,
      limits.queue.batch_inputs, limits.body_bytes, options.transfer_milliseconds,
      options.waiting_milliseconds));
  if (!socket.is_loopback()) {
    print_line(
        fmt::format("note: {} can be reached from other machines; there is no password and "
                    "no encryption",
                    socket.address()));
  }
}

// A line every log_seconds when there was traffic, and one at the end.
void log_until_stopped(serve::Metrics& metrics, int log_seconds) {
  using Clock = std::chrono::steady_clock;
  const auto period = std::chrono::seconds(log_seconds);
  Clock::time_point next = Clock::now() + period;
  while (!platform::stop_requested()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (Clock::now() < next) continue;
    next += period;
    const std::string summary = metrics.take_summary();
    if (!summary.empty()) print_line(summary);
  }
}

void run(const Options& options) {
  const serve::Limits limits = limits_of(options);
  platform::install_stop_signals();
  const auto model = open_model(options.checkpoint, options.serving.num_threads, options.device);
  if (options.serving.may_have_no_answer) {
    model->pretrained().require_head(models::HeadKind::kQuestionAnswering);
  }
  serve::ServedModel served = serve::serve_model(model, options.serving);
  const platform::ListeningSocket socket(options.host, options.port);
  serve::Service service({.model = std::move(served.description),
                          .endpoints = std::move(served.endpoints),
                          .limits = limits,
                          .is_loopback = socket.is_loopback()});
  serve::HttpServer server(socket, service,
                           options.logs_requests ? print_line : serve::HttpServer::RequestLog());
  print_start(options, socket, model->pretrained().path);
  log_until_stopped(service.metrics(), options.log_seconds);
  server.stop();
  const std::string summary = service.metrics().take_summary();
  print_line(fmt::format("stopped on signal {}; everything that waited was answered{}{}",
                         platform::stop_signal(), summary.empty() ? "" : "; ", summary));
}

void add_limit_options(Subcommand command, Options& options) {
  serve::Limits& limits = options.limits;
  const auto add = [&](const std::string& flag, int64_t& target, const std::string& help) {
    command.add_option(flag, target, help).shows_default().at_least(1);
  };
  add("--max-connections", limits.connections, "Connections");
  add("--max-connections-per-address", limits.connections_per_address,
      "Connections from one address");
  add("--max-header-bytes", limits.header_bytes, "Bytes of a request line and header");
  add("--max-body-bytes", limits.body_bytes, "Bytes of a body");
  add("--max-text-bytes", limits.text_bytes, "Bytes of each text in it");
  add("--max-inputs", limits.inputs_per_request, "Inputs in one request");
  add("--max-top-k", limits.top_k, "Largest top_k");
  add("--max-waiting", limits.queue.waiting_inputs, "Inputs in the queue; beyond: status 503");
  add("--max-batch", limits.queue.batch_inputs, "Inputs run together");
  add("--max-batch-bytes", limits.queue.batch_bytes, "Bytes of text run together");
  add("--transfer-timeout", options.transfer_milliseconds,
      "Milliseconds for a request to come whole, and for a reply to go");
  add("--queue-timeout", options.waiting_milliseconds,
      "Milliseconds in the queue; beyond: status 504");
  command
      .add_option("--batch-wait", options.batch_wait_milliseconds,
                  "Milliseconds that a batch waits for company; 0: takes what is there")
      .shows_default()
      .at_least(0);
}

}  // namespace

void add_serve(Subcommand parent) {
  Subcommand command =
      parent.add_subcommand("serve", "Answer requests over HTTP, and on a web page");
  const auto options = std::make_shared<Options>();
  command.add_option("--init-checkpoint", options->checkpoint, kInitCheckpointHelp).required();
  command
      .add_option("--host", options->host,
                  "Address to listen on; other than loopback, other machines reach it")
      .shows_default();
  command.add_option("--port", options->port, "0: any that is free").shows_default().at_least(0);
  command.add_option("--threads", options->serving.num_threads,
                     "0: one for each processor that may be used");
  add_device_options(command, options->device);
  command.add_flag("--version-2-with-negative", options->serving.may_have_no_answer,
                   "There may be no answer, for models trained on SQuAD 2.0");
  add_limit_options(command, *options);
  command.add_option("--log-seconds", options->log_seconds, "Seconds between two lines of counts")
      .shows_default()
      .at_least(1);
  command.add_flag("--log-requests", options->logs_requests, "Also print a line for each request");
  command.set_action([options] { run(*options); });
}

}  // namespace cloze::cli

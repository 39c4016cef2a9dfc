#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "base/error.h"
#include "cli/console/say.h"
#include "cli/inference/inference_options.h"
#include "cli/options/commands.h"
#include "platform/signals.h"
#include "platform/socket.h"
#include "serve/http_server.h"
#include "serve/model_endpoints.h"
#include "serve/service.h"
#include "tasks/embedding/embedding_file.h"
#include "tasks/embedding/text_collection.h"

namespace cloze::cli {
namespace {

struct Options {
  ModelOptions model;
  std::string host = "127.0.0.1";
  int port = 8080;
  serve::ServingOptions serving;
  serve::Limits limits;
  std::string key;
  std::filesystem::path documents, vectors;  // empty: none
  std::string text_field = "text";
  int log_seconds = 10;
  bool logs_requests = false;
};

void check(const serve::Limits& limits) {
  if (limits.queue.waiting_inputs < limits.inputs_per_request) {
    throw_user_error(
        "--max-waiting {} is less than --max-inputs {}: no such request could wait; raise the "
        "first, or lower the second",
        limits.queue.waiting_inputs, limits.inputs_per_request);
  }
  if (limits.queue.batch_wait >= limits.queue.waiting_time) {
    throw_user_error(
        "--batch-wait {} is not less than --queue-timeout {}, so requests would expire; lower it",
        limits.queue.batch_wait.count(), limits.queue.waiting_time.count());
  }
}

// What lies in the environment is not seen by whoever lists the machine's processes.
std::string key_of(const Options& options) {
  if (!options.key.empty()) return options.key;
  const char* const stored = std::getenv("CLOZE_API_KEY");
  return stored == nullptr ? "" : stored;
}

void print_line(const std::string& line) {
  say("{}\n", line);
  std::fflush(stderr);
}

void print_start(const Options& options, const platform::ListeningSocket& socket,
                 const std::filesystem::path& model) {
  const serve::Limits& limits = options.limits;
  const auto seconds = [](std::chrono::milliseconds time) {
    return std::chrono::duration<double>(time).count();
  };
  print_line(
      fmt::format("serving {} on http://{}/: Ctrl-C stops it", model.string(), socket.address()));
  print_line(fmt::format(
      "limits: {} connections; {} inputs that wait, each for {:g} s; {} inputs in a batch; {} "
      "bytes in a body, {:g} s for a transfer",
      limits.connections, limits.queue.waiting_inputs, seconds(limits.queue.waiting_time),
      limits.queue.batch_inputs, limits.body_bytes, seconds(limits.transfer_time)));
  if (!socket.is_loopback()) {
    const char* const lacking =
        key_of(options).empty() ? "no password and no encryption" : "no encryption";
    print_line(fmt::format("note: {} can be reached from other machines; there is {}",
                           socket.address(), lacking));
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

void run(Options& options) {
  check(options.limits);
  if (!options.documents.empty()) {
    options.serving.documents = std::make_shared<const tasks::TextCollection>(
        tasks::TextCollection::read(options.documents, options.text_field, options.vectors));
  }
  platform::install_stop_signals();
  const auto model = open_model(options.model, options.serving.num_threads);
  const auto classes = std::ssize(model->head().labels);
  if (classes > options.limits.queue.batch_candidates) {
    throw_user_error("--max-candidates {} is less than the model's {} classes; raise it",
                     options.limits.queue.batch_candidates, classes);
  }
  serve::ServedModel served = serve::serve_model(model, options.serving, options.limits);
  const platform::ListeningSocket socket(options.host, options.port);
  serve::Service service(
      {.model = std::move(served.description),
       .endpoints = std::move(served.endpoints),
       .own_paths = std::move(served.page_paths),
       .handler = std::move(served.head.handler),
       .rules = {.limits = options.limits,
                 .is_loopback = socket.is_loopback(),
                 .key = key_of(options),
                 .paths_of_other_models = std::move(served.paths_of_other_models)},
       .compute_type = model->options().device == "cpu" ? "cpu" : "gpu"});
  serve::HttpServer server(socket, service,
                           options.logs_requests ? print_line : serve::HttpServer::RequestLog());
  print_start(options, socket, model->pretrained().path);
  log_until_stopped(service.metrics(), options.log_seconds);
  server.stop();
  const std::string summary = service.metrics().take_summary();
  print_line(fmt::format("stopped on signal {}; everything that waited was answered{}{}",
                         platform::stop_signal(), summary.empty() ? "" : "; ", summary));
}

void add_limit_options(OptionTable& table, serve::Limits& limits) {
  const OptionRules positive{.minimum = 1};
  // The HTTP library counts connections, and bytes of a header, in narrower numbers.
  const OptionRules connections{.minimum = 1, .maximum = 1'000'000};
  const OptionRules header{.minimum = 1, .maximum = 1 << 30};
  // A day: the clock counts nanoseconds in 64 bits, and a time is added to what it says.
  constexpr double kMostMilliseconds = 86'400'000;
  const OptionRules milliseconds{.minimum = 1, .maximum = kMostMilliseconds};
  table.add("max_connections", &limits.connections, "Most connections open at once", connections);
  table.add("max_connections_per_address", &limits.connections_per_address,
            "Most connections from one address", connections);
  table.add("max_header_bytes", &limits.header_bytes, "Most bytes of a request line and header",
            header);
  table.add("max_body_bytes", &limits.body_bytes, "Most bytes of a body", positive);
  table.add("max_text_bytes", &limits.text_bytes, "Most bytes of each text in it", positive);
  table.add("max_inputs", &limits.inputs_per_request, "Most inputs in one request", positive);
  table.add("max_top_k", &limits.top_k, "Largest top_k", positive);
  table.add("max_waiting", &limits.queue.waiting_inputs,
            "Most inputs in the queue; beyond this: status 503", positive);
  table.add("max_batch", &limits.queue.batch_inputs, "Most inputs run together", positive);
  table.add("max_batch_bytes", &limits.queue.batch_bytes, "Most bytes of text run together",
            positive);
  table.add("max_candidates", &limits.queue.batch_candidates,
            "Most candidates that the answers of a batch list together: a request that asks for "
            "more is refused",
            positive);
  table.add("transfer_timeout", &limits.transfer_time,
            "Milliseconds for a whole request to arrive, and for a reply to be sent", milliseconds);
  table.add("queue_timeout", &limits.queue.waiting_time,
            "Milliseconds in the queue; beyond this: status 504", milliseconds);
  table.add("batch_wait", &limits.queue.batch_wait,
            "Milliseconds that a batch waits for more inputs; 0: it takes those that are there",
            {.minimum = 0, .maximum = kMostMilliseconds});
}

void add_options(OptionTable& table, Options& o) {
  add_model_options(table, o.model, o.serving.num_threads);
  table.add("host", &o.host,
            "Address to listen on; unless it is loopback, other machines can reach it");
  table.add("port", &o.port, "Port to listen on; 0: any free one", {.minimum = 0});
  table.add("model_name", &o.serving.model_name,
            "Name of the model in replies and on the page (its folder's)");
  table.add("threshold", &o.serving.threshold,
            "Probability above which a label of several holds (0.5)", {.minimum = 0, .maximum = 1});
  table.add("version_2_with_negative", &o.serving.may_have_no_answer,
            "A question may have no answer; for models trained on SQuAD 2.0");
  table.add("documents", &o.documents,
            "Texts that POST /search and the page find: one on each line or, with a name that ends "
            "with .jsonl, a JSON object",
            {.misplaced = [&o] {
              return o.vectors.empty()
                         ? "needs --vectors, a file that cloze embed makes of these texts"
                         : "";
            }});
  table.add("vectors", &o.vectors, "A .npy with a vector for each of the documents",
            {.misplaced = [&o] {
              return o.documents.empty() ? "needs --documents, the texts that it was made of" : "";
            }});
  table.add("text_field", &o.text_field, "Key of the text in JSON objects of the documents",
            {.misplaced = [&o] {
              return tasks::holds_json_lines(o.documents)
                         ? ""
                         : "needs --documents whose name ends with .jsonl";
            }});
  table.add("api_key", &o.key,
            "Key that requests must send as \"Authorization: Bearer KEY\"; better set in the "
            "environment, as CLOZE_API_KEY, where other users do not see it");
  table.add("auto_truncate", &o.serving.auto_truncate,
            "Cut texts that are too long where a request in TEI's or OpenAI's form does not say; "
            "false: refuse them");
  add_limit_options(table, o.limits);
  table.add("log_seconds", &o.log_seconds, "Seconds between two lines of counts", {.minimum = 1});
  table.add("log_requests", &o.logs_requests, "Also print a line for each request");
}

}  // namespace

void add_serve(Subcommand program) {
  program.add_command(
      "serve",
      {"Answer requests over HTTP, and on a web page", "cloze serve --init-checkpoint squad"},
      add_options, run);
}

}  // namespace cloze::cli

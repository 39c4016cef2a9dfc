#include "serve/server_pages.h"

#include <memory>
#include <utility>

#include "serve/docs_html.h"
#include "serve/page_html.h"

namespace cloze::serve {
namespace {

using formats::Json;

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

Response model_description(const PageContent& content) {
  return json_response({{"model", content.model},
                        {"endpoints", content.own_paths},
                        {"limits", json_of(content.limits)}});
}

// Whatever a page is made to show, it can load nothing and talk to nothing but this server.
Response html_response(const char* html) {
  constexpr const char* kPolicy =
      "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
      "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
  return {.content_type = "text/html; charset=utf-8",
          .body = html,
          .fields = {{"Content-Security-Policy", kPolicy},
                     {"X-Content-Type-Options", "nosniff"},
                     {"Referrer-Policy", "no-referrer"}}};
}

Response metrics_response(const PageContent& content) {
  return {.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = content.metrics()};
}

struct PageRow {
  const char* path;
  const char* summary;
  const char* reply;
  bool is_public;  // without the key
  Response (*get)(const PageContent& content);
};
constexpr PageRow kPages[] = {
    {"/", "The page that asks the model", "One file of HTML", true,
     [](const PageContent&) { return page_response(); }},
    {"/health", "Says that the server lives", "{\"status\": \"ok\"}", true,
     [](const PageContent&) {
       return json_response({{"status", "ok"}});
     }},
    {"/metrics", "Counts for Prometheus", "Prometheus' text format, version 0.0.4", true,
     metrics_response},
    {"/model", "Says what the model and the limits are", "The model, its endpoints, the limits",
     false, model_description},
    {"/ping", "Says that the server lives, as TEI does", "Nothing", true,
     [](const PageContent&) { return Response(); }},
    {"/docs", "The page that shows this document", "One file of HTML", true,
     [](const PageContent&) { return docs_response(); }},
};

}  // namespace

Response page_response() { return html_response(kPageHtml); }

Response docs_response() { return html_response(kDocsHtml); }

std::vector<Endpoint> server_pages(const PageContent& content) {
  std::vector<Endpoint> rows;
  const auto shared = std::make_shared<const PageContent>(content);
  for (const PageRow& page : kPages) {
    rows.push_back({.path = page.path,
                    .summary = page.summary,
                    .reply = page.reply,
                    .is_public = page.is_public,
                    .get = [shared, get = page.get] { return get(*shared); }});
  }
  return rows;
}

}  // namespace cloze::serve

// The endpoints that are answered without the model: the page, health, counts, and the description of
// all endpoints.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "formats/json.h"
#include "serve/endpoint.h"
#include "serve/http_message.h"
#include "serve/limits.h"

namespace cloze::serve {

// The page under GET /: a form that asks the model. It is one file (page.html), put into the
// program when that is built, and fetches nothing from elsewhere.
Response page_response();
// The page under GET /docs, likewise (docs.html): it shows /api-doc/openapi.json.
Response docs_response();

struct PageContent {
  formats::Json model;                 // what GET /model says of it
  std::vector<std::string> own_paths;  // of our own endpoints
  Limits limits;
  std::function<std::string()> metrics;  // in Prometheus' text format
};

// Rows for /, /health, /metrics, /model, /ping and /docs. That of /api-doc/openapi.json is
// made last, from all others (openapi.h).
std::vector<Endpoint> server_pages(const PageContent& content);

}  // namespace cloze::serve

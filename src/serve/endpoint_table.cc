#include "serve/endpoint_table.h"

#include <algorithm>

#include "serve/info_endpoints.h"
#include "serve/own_endpoint.h"
#include "serve/rerank_endpoints.h"
#include "serve/tei_endpoints.h"
#include "serve/token_endpoints.h"

namespace cloze::serve {
namespace {

using models::BertHead;

bool has_classes(const BertHead& head) {
  return head.kind == models::HeadKind::kSequenceClassification;
}
bool has_one_class(const BertHead& head) { return has_classes(head) && head.labels.size() == 1; }
bool has_any_head(const BertHead&) { return true; }

struct EndpointRow {
  const char* path;
  bool (*is_offered)(const BertHead& head);
  Endpoint (*make)(const EndpointContext& context);
};
constexpr EndpointRow kEndpoints[] = {
    {"/predict", has_classes, tei_predict},      {"/rerank", has_one_class, tei_rerank},
    {"/v1/rerank", has_one_class, jina_rerank},  {"/tokenize", has_any_head, tei_tokenize},
    {"/decode", has_any_head, tei_decode},       {"/info", has_any_head, tei_info},
    {"/v1/models", has_any_head, openai_models},
};

}  // namespace

std::vector<Endpoint> model_endpoints(const OwnForm& own, const EndpointContext& context) {
  std::vector<Endpoint> endpoints = {own_endpoint(own, context.name, context.limits)};
  for (const EndpointRow& row : kEndpoints) {
    if (!row.is_offered(context.head())) continue;
    Endpoint& made = endpoints.emplace_back(row.make(context));
    made.path = row.path;
  }
  return endpoints;
}

std::vector<std::string> paths_of_other_models(const EndpointContext& context) {
  std::vector<std::string> paths;
  for (const models::HeadTraits& head : models::all_heads()) {
    if (head.kind != context.head().kind && !head.endpoint.empty())
      paths.emplace_back(head.endpoint);
  }
  for (const EndpointRow& row : kEndpoints) {
    if (!row.is_offered(context.head())) paths.emplace_back(row.path);
  }
  return paths;
}

}  // namespace cloze::serve

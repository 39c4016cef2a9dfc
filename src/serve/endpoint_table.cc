#include "serve/endpoint_table.h"

#include <algorithm>

#include "serve/forms/embedding_endpoints.h"
#include "serve/forms/info_endpoints.h"
#include "serve/forms/openai_embeddings.h"
#include "serve/forms/rerank_endpoints.h"
#include "serve/forms/tei_endpoints.h"
#include "serve/forms/token_endpoints.h"
#include "serve/own_endpoint.h"
#include "serve/search_endpoint.h"

namespace cloze::serve {
namespace {

using Context = EndpointContext;

bool has_classes(const Context& context) {
  return context.head().kind == models::HeadKind::kSequenceClassification;
}
bool has_one_class(const Context& context) {
  return has_classes(context) && context.head().labels.size() == 1;
}
bool makes_vectors(const Context& context) {
  return context.head().kind == models::HeadKind::kEmbedding;
}
bool has_documents(const Context& context) { return context.documents != nullptr; }
bool has_several_classes(const Context& context) {
  return has_classes(context) && !has_one_class(context);
}
bool has_any_head(const Context&) { return true; }

struct EndpointRow {
  const char* path;
  bool (*is_offered)(const EndpointContext& context);
  Endpoint (*make)(const EndpointContext& context);
};
constexpr EndpointRow kEndpoints[] = {
    {"/search", has_documents, search_endpoint},
    {"/embed", makes_vectors, tei_embed},
    {"/embed_all", makes_vectors, tei_embed_all},
    {"/similarity", makes_vectors, tei_similarity},
    {"/v1/embeddings", makes_vectors, openai_embeddings},
    {"/embeddings", makes_vectors, openai_embeddings},
    {"/", makes_vectors, tei_vectors},
    {"/", has_one_class, tei_rerank},
    {"/", has_several_classes, tei_predict},
    {"/predict", has_classes, tei_predict},
    {"/rerank", has_one_class, tei_rerank},
    {"/v1/rerank", has_one_class, jina_rerank},
    {"/tokenize", has_any_head, tei_tokenize},
    {"/decode", has_any_head, tei_decode},
    {"/info", has_any_head, tei_info},
    {"/v1/models", has_any_head, openai_models},
};

}  // namespace

std::vector<Endpoint> model_endpoints(const OwnForm& own, const EndpointContext& context) {
  std::vector<Endpoint> endpoints;
  if (!own.path.empty()) endpoints.push_back(own_endpoint(own, context.name, context.limits));
  for (const EndpointRow& row : kEndpoints) {
    if (!row.is_offered(context)) continue;
    Endpoint& made = endpoints.emplace_back(row.make(context));
    made.path = row.path;
  }
  return endpoints;
}

std::vector<std::string> paths_of_other_models(const EndpointContext& context) {
  std::vector<std::string> paths;
  for (const models::HeadTraits& head : models::all_heads()) {
    const bool is_of_another = head.kind != context.head().kind && !head.endpoint.empty();
    if (is_of_another) paths.emplace_back(head.endpoint);
  }
  for (const EndpointRow& row : kEndpoints) {
    if (!row.is_offered(context)) paths.emplace_back(row.path);
  }
  return paths;
}

}  // namespace cloze::serve

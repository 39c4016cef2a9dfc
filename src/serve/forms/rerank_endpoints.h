// Endpoints that order texts by how well they answer a query, for a model with one class:
//
//   POST /rerank     {"query", "texts", "raw_scores", "return_text", "truncate",
//                    "truncation_direction"} -> [{"index", "score", "text"}], the best first
//   POST /v1/rerank  {"model", "query", "documents", "top_n", "return_documents"}
//                    -> {"model", "results": [{"index", "relevance_score", "document": {"text"}}],
//                       "usage": {"total_tokens"}}
//
// A score is the sigmoid of the logit, of raw_scores the logit. Sources: text-embeddings-inference
// 1.9; Jina's and Cohere's interfaces.
#pragma once

#include "serve/endpoint_table.h"

namespace cloze::serve {

Endpoint tei_rerank(const EndpointContext& context);
Endpoint jina_rerank(const EndpointContext& context);

}  // namespace cloze::serve

// The endpoint that finds texts, of a server that was given some:
//
//   POST /search  {"query", "top_k", "prompt_name"}
//                 -> {"results": [{"index", "score", "text"}], "model"}: the texts whose vectors have
//                    the largest cosines with the query's, the largest first; "index" counts the
//                    texts from 0. A query that was cut also has "truncated" (tasks/truncation.h).
#pragma once

#include "serve/endpoint_table.h"

namespace cloze::serve {

Endpoint search_endpoint(const EndpointContext& context);

}  // namespace cloze::serve

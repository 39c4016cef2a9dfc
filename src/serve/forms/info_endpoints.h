// Facts about the model that other families of clients ask for first:
//
//   GET /info       TEI's facts and limits
//   GET /v1/models  {"object": "list", "data": [{"id", "object": "model", "created", "owned_by"}]}
//
// Sources: text-embeddings-inference 1.9; OpenAI's openapi document.
#pragma once

#include "serve/endpoint_table.h"

namespace cloze::serve {

Endpoint tei_info(const EndpointContext& context);
Endpoint openai_models(const EndpointContext& context);

}  // namespace cloze::serve

// Endpoints of text-embeddings-inference (TEI) for models that make vectors:
//
//   POST /embed       {"inputs", "normalize", "dimensions", "prompt_name", "truncate",
//                     "truncation_direction"} -> a list of vectors, also for one text
//   POST /embed_all   the same without "normalize" and "dimensions" -> for each text a list of the
//                     vectors of its tokens, special ones included
//   POST /similarity  {"inputs": {"source_sentence", "sentences"}, "parameters": {"prompt_name",
//                     "truncate", "truncation_direction"}} -> a list of cosines
//   POST /            /similarity where "inputs" is an object, else /embed
//
// Source: text-embeddings-inference 1.9.
#pragma once

#include "serve/endpoint_table.h"

namespace cloze::serve {

Endpoint tei_embed(const EndpointContext& context);
Endpoint tei_embed_all(const EndpointContext& context);
Endpoint tei_similarity(const EndpointContext& context);
Endpoint tei_vectors(const EndpointContext& context);

}  // namespace cloze::serve

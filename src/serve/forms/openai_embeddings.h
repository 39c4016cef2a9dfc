// OpenAI's endpoint of embeddings, under /v1/embeddings and /embeddings:
//
//   POST  {"input", "model", "encoding_format", "dimensions", "user"}
//         -> {"object": "list", "data": [{"object": "embedding", "index", "embedding"}], "model",
//            "usage": {"prompt_tokens", "total_tokens"}}
//
// A vector has the length 1. It is a list of numbers or, where encoding_format is "base64", the
// base64 of its numbers in f32, little-endian. Source: OpenAI's openapi document.
#pragma once

#include "serve/endpoint_table.h"

namespace cloze::serve {

Endpoint openai_embeddings(const EndpointContext& context);

}  // namespace cloze::serve

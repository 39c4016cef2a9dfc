// Endpoints of the tokenizer, which every model has:
//
//   POST /tokenize  {"inputs", "add_special_tokens"} -> for each text a list of {"id", "text",
//                   "special", "start", "stop"}: the text's own characters, and their place in it,
//                   counted in code points, stop exclusive; of a special token its name and null
//   POST /decode    {"ids", "skip_special_tokens"} -> a list of texts, pieces joined to words
//
// Nothing is cut. [MASK] in a text is three words, as in the tokenizer (text/tokenizer.h).
// Source: text-embeddings-inference 1.9; the decoder for WordPiece of Hugging Face's tokenizers.
#pragma once

#include "serve/endpoint_table.h"

namespace cloze::serve {

Endpoint tei_tokenize(const EndpointContext& context);
Endpoint tei_decode(const EndpointContext& context);

}  // namespace cloze::serve

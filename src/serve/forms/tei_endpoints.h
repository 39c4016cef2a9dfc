// Endpoints of text-embeddings-inference (TEI) for models with classes:
//
//   POST /predict  {"inputs", "raw_scores", "truncate", "truncation_direction"}
//                  a text or a pair [a, b] -> [{"score", "label"}], all classes, the best first
//                  a list of [a] and [a, b] -> a list of such lists
//
// A score is the probability of the class (where several may hold, that it holds), of a single class
// the sigmoid of its logit; of raw_scores the logit. Source: text-embeddings-inference 1.9.
#pragma once

#include "serve/endpoint_table.h"

namespace cloze::serve {

Endpoint tei_predict(const EndpointContext& context);

}  // namespace cloze::serve

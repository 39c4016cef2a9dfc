// The endpoints of a model folder, by the head it has:
//
//   pre-training             /fill      {"text", "top_k"}
//                                       -> {"blanks": [{"candidates": [{"token", "probability"}]}]}
//   question answering       /answer    {"question", "context", "top_k"}
//                                       -> {"answers": [{"text", "probability", "start", "end"}]}
//   sequence classification  /classify  {"text", "text_pair"}
//                                       -> {"classes": [{"label", "probability"}]}, or of a model
//                                          that predicts a number {"value"}
//
// The most probable stands first; start and end are code points of the context, end exclusive.
// Errors: UserError and DataError of a folder that is no such model.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "inference/inference_session.h"
#include "serve/endpoint.h"

namespace cloze::serve {

struct ServedModel {
  nlohmann::ordered_json description;  // for GET /model
  std::vector<Endpoint> endpoints;
};

ServedModel serve_model(const std::filesystem::path& folder,
                        const inference::InferenceOptions& options);

}  // namespace cloze::serve

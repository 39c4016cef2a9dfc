// The description of a server's endpoints as an OpenAPI document (3.1), made of the rows that answer.
#pragma once

#include <string>
#include <vector>

#include "formats/json.h"
#include "serve/endpoint.h"

namespace cloze::serve {

struct OpenapiOptions {
  std::string title;     // the model's name
  bool has_key = false;  // endpoints that are not public ask for it
};

formats::Json openapi_document(const std::vector<Endpoint>& endpoints,
                               const OpenapiOptions& options);

}  // namespace cloze::serve

// The JSON body of a request to an endpoint: one input, {"text": ...}, or {"inputs": [{...}, ...]}.
#pragma once

#include <string_view>
#include <variant>
#include <vector>

#include "serve/endpoint.h"
#include "serve/http_message.h"
#include "serve/limits.h"

namespace cloze::serve {

struct RequestBody {
  std::vector<Input> inputs;
  bool is_list = false;  // an answer to a list is a list
};

// Or the error: 400 for text that is no such JSON, 413 for more than the limits.
std::variant<RequestBody, Response> parse_request_body(std::string_view text,
                                                       const Endpoint& endpoint,
                                                       const Limits& limits);

}  // namespace cloze::serve

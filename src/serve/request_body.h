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
  std::vector<Input> inputs;  // those that can be asked
  bool is_list = false;       // an answer to a list is a list
  // The errors of a list, by place: what is wrong with that input; "" when it is the next of
  // `inputs`.
  std::vector<std::string> errors = {};
};

// Or the error: 400 for text that is not such JSON, 413 for more than the limits. A bad input of a
// list is not such an error: the others are asked.
std::variant<RequestBody, Response> parse_request_body(std::string_view text,
                                                       const Endpoint& endpoint,
                                                       const Limits& limits);

}  // namespace cloze::serve

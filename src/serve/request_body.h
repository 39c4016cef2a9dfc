// The JSON body of a request to one of our own endpoints: one input, {"text": ...}, or {"inputs": [{...}, ...]}.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "serve/limits.h"
#include "serve/own_form.h"

namespace cloze::serve {

struct RequestBody {
  std::vector<Input> inputs;  // those that can be asked
  bool is_list = false;       // an answer to a list is a list
  // The errors of a list, by place: what is wrong with that input; "" when it is the next of
  // `inputs`.
  std::vector<std::string> errors = {};
};

// Failure (failure.h) for text that is not such JSON, and for more than the limits. A bad input of a
// list is not such an error: the others are asked.
RequestBody parse_request_body(std::string_view text, const OwnForm& form, const Limits& limits);

}  // namespace cloze::serve

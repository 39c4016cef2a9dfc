// Runs a batch so that a bad input spoils only its own answer.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "serve/endpoint.h"

namespace cloze::serve {

struct Output {
  nlohmann::ordered_json value;
  std::string error;  // what is wrong with the input; "" when there is a value
};

// One output per input, in order. A batch that the handler refuses is halved until the bad inputs
// stand alone: b bad ones among n cost about b·log2(n) refusals. Errors of other kinds pass
// through.
std::vector<Output> answer_each(const Handler& handler, std::span<const Input> inputs);

}  // namespace cloze::serve

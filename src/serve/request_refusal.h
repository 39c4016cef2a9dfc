// Refuses a request before its body has come, for its header, its path, its key or its length.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/endpoint.h"
#include "serve/http_message.h"
#include "serve/limits.h"

namespace cloze::serve {

struct RefusalRules {
  Limits limits;
  bool is_loopback = true;  // then only requests to names of this machine are answered
  std::string key;          // that requests must have; empty: none
  std::vector<std::string> paths_of_other_models;
};

// The error, in the form of the endpoint that was asked for.
std::optional<Response> refusal_of(const RequestHead& head, const std::vector<Endpoint>& endpoints,
                                   const RefusalRules& rules);

// A whole number that is not negative; nothing for anything else.
std::optional<int64_t> parse_length(std::string_view text);

}  // namespace cloze::serve

// YAML text to Json: one document of maps, lists and plain values. Numbers, true, false
// and null are what YAML 1.2 says; what is in quotes is text. Aliases are refused: they make small
// texts large. Source: yaml.org/spec/1.2.
#pragma once

#include <string_view>

#include "base/result.h"
#include "formats/json.h"

namespace cloze::formats {

// The limits of parse_json() hold here too: depth, keys that are given once.
Result<Json> parse_yaml(std::string_view text);

}  // namespace cloze::formats

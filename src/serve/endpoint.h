// An endpoint is what a model offers under one path: the fields of its requests, and the function
// that answers them a batch at a time. The handler is called by one thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"

namespace cloze::serve {

// One input of a request. The endpoint says what the texts are.
struct Input {
  std::string first;
  std::string second;  // "" when not given
  std::vector<std::string> list;
  std::string mode;  // one of the endpoint's; its first when not given
  int64_t top_k = 5;
  int64_t candidates = 1;  // that its answer lists, at most

  int64_t bytes() const {
    const size_t texts = first.size() + second.size();
    size_t bytes = list.empty() ? texts : 0;
    for (const std::string& one : list) bytes += texts + one.size();  // each is read with them
    return static_cast<int64_t>(bytes);
  }
};

// One output per input, in order. UserError when any input is a bad one, before it computes;
// DataError when the model is at fault (its logits are not finite).
using Handler = std::function<std::vector<formats::Json>(std::span<const Input> inputs)>;

struct Endpoint {
  std::string path;          // "/answer"
  std::string first_field;   // "question"
  std::string second_field;  // "context"; "" for none
  bool requires_second = false;
  std::string list_field;  // "choices", a list of two texts or more; "" for none
  bool has_top_k = false;
  std::string mode_field = {};  // "aggregation", one of `modes`; "" for none
  std::span<const std::string_view> modes = {};
  std::function<int64_t(const Input& input)> count_candidates = [](const Input& input) {
    return input.top_k;
  };
  Handler handler;
};

}  // namespace cloze::serve

// The form of the requests to one of our own endpoints: the names of the fields that fill an Input.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "serve/answer.h"

namespace cloze::serve {

struct OwnForm {
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
};

// The form of the endpoint of a model's head, and the function that answers.
struct HeadService {
  OwnForm form;
  Handler handler;
};

}  // namespace cloze::serve

// Inputs of requests, answers of the model to them, and the function between. It is called by one thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/json.h"
#include "tasks/truncation.h"

namespace cloze::serve {

// One input of a request. The model's head says what the texts are.
struct Input {
  std::string first;
  std::string second;  // "" when not given
  std::vector<std::string> list;
  std::string mode;         // one of the endpoint's; its first when not given
  bool cuts_start = false;  // texts that are too long lose their start, not their end
  int64_t top_k = 5;
  int64_t candidates = 1;  // that its answer lists, at most

  int64_t bytes() const {
    const size_t texts = first.size() + second.size();
    size_t bytes = list.empty() ? texts : 0;
    for (const std::string& one : list) bytes += texts + one.size();  // each is read with them
    return static_cast<int64_t>(bytes);
  }
};

struct Answer {
  formats::Json value;         // as our own endpoint says it
  std::vector<float> numbers;  // of the head: a logit for each class
  int64_t tokens = 0;          // that were read, special ones included; 0: they are not counted
  tasks::Truncation text;
  double token_seconds = 0.0;  // its share of the time in which the tokens of its batch were made
};

// One answer per input, in order. UserError when any input is a bad one, before it computes;
// DataError when the model is at fault (its logits are not finite).
using Handler = std::function<std::vector<Answer>(std::span<const Input> inputs)>;

// Answers of which only the value is of use.
inline std::vector<Answer> answers_of(std::vector<formats::Json> values) {
  std::vector<Answer> answers;
  answers.reserve(values.size());
  for (formats::Json& value : values) answers.push_back({.value = std::move(value)});
  return answers;
}

// An answer, or what is wrong with the input.
struct Output {
  Answer answer;
  std::string error = "";        // "" when there is an answer
  bool is_models_fault = false;  // the error is of the model, which took the input
};

}  // namespace cloze::serve

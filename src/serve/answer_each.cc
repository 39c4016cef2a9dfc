#include "serve/answer_each.h"

#include "base/error.h"

namespace cloze::serve {
namespace {

void append_answers(const Handler& handler, std::span<const Input> inputs,
                    std::vector<Output>& outputs) {
  try {
    std::vector<nlohmann::ordered_json> values = handler(inputs);
    CLOZE_CHECK(values.size() == inputs.size(), "{} outputs for {} inputs", values.size(),
                inputs.size());
    for (nlohmann::ordered_json& value : values) outputs.push_back({.value = std::move(value)});
  } catch (const UserError& error) {
    if (inputs.size() == 1) {
      outputs.push_back({.error = error.what()});
      return;
    }
    const size_t half = inputs.size() / 2;
    append_answers(handler, inputs.first(half), outputs);
    append_answers(handler, inputs.subspan(half), outputs);
  }
}

}  // namespace

std::vector<Output> answer_each(const Handler& handler, std::span<const Input> inputs) {
  std::vector<Output> outputs;
  outputs.reserve(inputs.size());
  if (!inputs.empty()) append_answers(handler, inputs, outputs);
  return outputs;
}

}  // namespace cloze::serve

#include "serve/forms/embedding_request.h"

#include <utility>

#include "serve/forms/number_text.h"
#include "tasks/text_embedder.h"

namespace cloze::serve {

std::vector<Input> text_inputs(const std::vector<std::string>& texts, const std::string& prompt) {
  std::vector<Input> inputs;
  inputs.reserve(texts.size());
  for (const std::string& text : texts) inputs.push_back({.first = prompt + text});
  return inputs;
}

void check_dimensions(const VectorForm& form, const EndpointContext& context) {
  const int64_t most = context.head().embedding.dimensions(context.model->config().hidden_size);
  if (form.dimensions.value_or(1) <= most) return;
  refuse(Trouble::kInvalid, "\"dimensions\" is {}; the model's vectors have {}", *form.dimensions,
         most);
}

std::vector<float> vector_of(Answer answer, const VectorForm& form) {
  std::vector<float> vector = std::move(answer.numbers);
  if (form.dimensions) vector.resize(static_cast<size_t>(*form.dimensions));
  if (form.is_normalized) tasks::normalize(vector);
  return vector;
}

void append_vector(std::span<const float> vector, std::string& json) {
  char next = '[';
  for (const float value : vector) {
    json += next;
    append_number(value, json);
    next = ',';
  }
  json += ']';
}

}  // namespace cloze::serve

// Texts as inputs of the model and vectors of its answers, for all endpoints of embeddings.
//
// The model gives each text the numbers of its layers, neither cut nor normalised, so that requests
// of all kinds share batches; each reply cuts its own, and then gives them the length 1.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/endpoint_table.h"

namespace cloze::serve {

// The mode of an input of which the vectors of all tokens are wanted.
inline constexpr std::string_view kTokenVectors = "tokens";

std::vector<Input> text_inputs(const std::vector<std::string>& texts, const std::string& prompt);

struct VectorForm {
  std::optional<int64_t> dimensions;  // the first so many; all when not given
  bool is_normalized = true;          // to length 1, once they are cut
};

// Failure when the model's vectors have fewer.
void check_dimensions(const VectorForm& form, const EndpointContext& context);
std::vector<float> vector_of(Answer answer, const VectorForm& form);

// Appends "[0.1,0.2]".
void append_vector(std::span<const float> vector, std::string& json);

}  // namespace cloze::serve

// The field by which a body names one of the model's prompts, words that are put before a text.
#pragma once

#include <string>

#include "inference/packed_model.h"
#include "serve/body_field.h"

namespace cloze::serve {

inline constexpr const char* kPromptField = "prompt_name";

BodyField prompt_field();

// The prompt that a body names, or `otherwise`. Failure for a name that the model has no prompt for.
std::string prompt_of(const Body& body, const inference::PackedModel& model,
                      const std::string& otherwise);

}  // namespace cloze::serve

// The fields by which TEI's bodies say what becomes of texts that are too long, and what they mean
// here.
#pragma once

#include <vector>

#include "serve/answer.h"
#include "serve/body_field.h"

namespace cloze::serve {

// "truncate" and "truncation_direction".
std::vector<BodyField> truncation_fields(bool truncates);

// Has the inputs cut at the end that a body names, and says whether they may be.
bool set_truncation(const Body& body, std::vector<Input>& inputs);
// Failure when an answer is of a text that was cut.
void require_whole(const std::vector<Answer>& answers);

}  // namespace cloze::serve

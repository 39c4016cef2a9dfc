// The fields by which TEI's bodies say what becomes of texts that are too long, and what they mean
// here: texts are cut on the right, or refused.
#pragma once

#include <vector>

#include "serve/answer.h"
#include "serve/body_field.h"

namespace cloze::serve {

// "truncate" and "truncation_direction".
std::vector<BodyField> truncation_fields(bool truncates);

// Says whether texts may be cut. Failure for a direction that is not offered.
bool may_truncate(const Body& body);
// Failure when an answer is of a text that was cut.
void require_whole(const std::vector<Answer>& answers);

}  // namespace cloze::serve

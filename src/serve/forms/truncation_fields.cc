#include "serve/forms/truncation_fields.h"

#include "serve/failure.h"

namespace cloze::serve {

std::vector<BodyField> truncation_fields(bool truncates) {
  return {{"truncate", FieldKind::kSwitch, "Cut texts that are too long, instead of refusing them",
           false, truncates},
          {"truncation_direction",
           FieldKind::kChoice,
           "The end that is cut",
           false,
           "right",
           {"right", "Right", "left", "Left"}}};
}

bool set_truncation(const Body& body, std::vector<Input>& inputs) {
  const std::string direction = body.text("truncation_direction");
  for (Input& input : inputs) input.cuts_start = direction == "left" || direction == "Left";
  return body.flag("truncate");
}

void require_whole(const std::vector<Answer>& answers) {
  for (const Answer& answer : answers) {
    if (!answer.text.is_cut()) continue;
    refuse(Trouble::kInvalid, "an input has {} tokens, and {} fit; shorten it, or set \"truncate\"",
           answer.text.tokens, answer.text.kept);
  }
}

}  // namespace cloze::serve

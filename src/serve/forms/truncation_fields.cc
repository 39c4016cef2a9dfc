#include "serve/forms/truncation_fields.h"

#include "serve/failure.h"

namespace cloze::serve {

std::vector<BodyField> truncation_fields(bool truncates) {
  return {{"truncate", FieldKind::kSwitch, "Cut texts that are too long, instead of refusing them",
           false, truncates},
          {"truncation_direction",
           FieldKind::kChoice,
           "The end that is cut; only \"right\" is offered",
           false,
           "right",
           {"right", "Right", "left", "Left"}}};
}

bool may_truncate(const Body& body) {
  const std::string direction = body.text("truncation_direction");
  if (direction == "left" || direction == "Left") {
    refuse(Trouble::kInvalid,
           "\"truncation_direction\" is \"{}\"; texts are cut on the right only: leave it out",
           direction);
  }
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

// What a model gives must be numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

#include "base/error.h"

namespace cloze::tasks {

// UserError, naming whose logits they are, when one is not finite: weights that left the finite
// numbers would otherwise give answers that look like others.
inline void require_finite(std::span<const float> logits, std::string_view whose) {
  if (std::ranges::all_of(logits, [](float x) { return std::isfinite(x); })) return;
  throw_user_error("the model's logits for {} are not finite numbers; has its training diverged?",
                   whose);
}

}  // namespace cloze::tasks

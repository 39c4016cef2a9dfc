// Tells how much of a text that is too long a model saw: its first tokens.
#pragma once

#include <cstdint>

#include "formats/json.h"

namespace cloze::tasks {

struct Truncation {
  int64_t tokens = 0;  // of the text, without special ones
  int64_t kept = 0;    // of these

  bool is_cut() const { return kept < tokens; }
};

// Adds to the reply to an input that was cut: {..., "truncated": {"tokens": 600, "kept": 509}}.
inline void add_truncation(formats::Json& reply, const Truncation& truncation) {
  if (!truncation.is_cut()) return;
  reply["truncated"] = {{"tokens", truncation.tokens}, {"kept", truncation.kept}};
}

}  // namespace cloze::tasks

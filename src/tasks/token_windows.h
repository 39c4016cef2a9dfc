// The windows that a text too long for one sequence is read through, and which of them sees a token
// best.
//
// Windows begin every `step` tokens and are `room` long; the last one ends with the text. A token's
// best window is the first with the largest
//
//   min(tokens of the window before it, tokens after it) + 0.01 (length of the window)
//
// The tokens that a window sees best are a range: from one window to a later one the score at a
// token can only gain. Source: Google's run_squad.py, _check_is_max_context.
#pragma once

#include <cstdint>
#include <vector>

namespace cloze::tasks {

struct TokenWindow {
  uint32_t begin = 0, end = 0;            // tokens of the text
  uint32_t best_begin = 0, best_end = 0;  // those of them that no other window sees better
  bool operator==(const TokenWindow&) const = default;
};

struct TokenWindowRule {
  uint32_t room = 1;  // at least 1
  uint32_t step = 1;  // in [1, room]
};

// None for no token.
std::vector<TokenWindow> token_windows(uint32_t num_tokens, const TokenWindowRule& rule);

}  // namespace cloze::tasks
